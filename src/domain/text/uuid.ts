import { createHash } from 'node:crypto'

/** A UUID in its 8-4-4-4-12 form, in either case. */
export const UUID_PATTERN = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$'

const uuid = new RegExp(UUID_PATTERN)

export const isUuid = (text: string): boolean => uuid.test(text)

/** Hexadecimal digits of an id of ours that give its order: time and count, see runtime/new-id.ts. */
const ORDER_LENGTH = '00000000-0000-0000-0000-00'.length

/**
 * Id of a row of an imported organization. It is the exported one if the organization has kept its id, and otherwise derived from it, in the
 * same order.
 */
export function importedId(organizationId: string, exportedOrganizationId: string, id: string): string {
  if (organizationId === exportedOrganizationId) return id
  if (id === exportedOrganizationId) return organizationId
  return deriveId(id, organizationId)
}

/** An id in the order of another one. It is the same for the same seed. */
export function deriveId(id: string, seed: string): string {
  const hash = createHash('sha256').update(`${seed} ${id}`).digest('hex')
  return id.slice(0, ORDER_LENGTH) + hash.slice(0, id.length - ORDER_LENGTH)
}

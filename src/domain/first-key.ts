import { equalsText } from '../db/query.ts'
import { createApiKey } from './api-keys.ts'
import type { Deps } from './context.ts'

type Wanted = { organization: string; apiKey: string | undefined }

/**
 * Makes the organization and its live key, whichever is missing; processes that start at once agree, because names are unique.
 *
 * @returns the key, if it was made now: the only time it is seen.
 */
export async function makeFirstKey(deps: Deps, { organization: name, apiKey }: Wanted): Promise<string | null> {
  const { db, newId, clock } = deps
  const now = clock()
  await db.organization.createMany({ data: [{ id: newId(), name, createdAt: now, updatedAt: now }], skipDuplicates: true })
  const organization = await db.organization.findFirstOrThrow({ where: { name: equalsText(name) } })
  if (!apiKey) return null
  const id = { organizationId: organization.id, name: apiKey }
  if (await db.apiKey.findUnique({ where: { organizationId_name: id } })) return null
  const { key } = await createApiKey(deps, { ...id, mode: 'live' })
  return key
}

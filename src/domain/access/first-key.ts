import { equalsText } from '../../db/query.ts'
import type { ServiceContext } from '../context.ts'
import { createApiKeyUnlessNamed } from './api-keys.ts'

type Wanted = { organization: string; apiKey: string | undefined }

/**
 * Creates the organization and its live key, whichever is missing. Of several processes that start at once only one does, because names
 * are unique.
 *
 * @returns the key if this call created it: the only time it is shown.
 */
export async function makeFirstKey(ctx: ServiceContext, { organization: name, apiKey }: Wanted): Promise<string | null> {
  const { db, deps } = ctx
  const now = deps.clock()
  await db.organization.createMany({ data: [{ id: deps.newId(), name, createdAt: now, updatedAt: now }], skipDuplicates: true })
  const organization = await db.organization.findFirstOrThrow({ where: { name: equalsText(name) } })
  if (!apiKey) return null
  const made = await createApiKeyUnlessNamed(ctx, { organizationId: organization.id, name: apiKey, mode: 'live' })
  return made?.key ?? null
}

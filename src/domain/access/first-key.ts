import { equalsText } from '../../db/query.ts'
import type { ServiceContext } from '../context.ts'
import { createApiKeyUnlessNamed } from './api-keys.ts'

type Wanted = { organization: string; apiKey: string | undefined }

/**
 * Makes the organization and its live key, whichever is missing. Of processes that start at once one makes it, because names are
 * unique.
 *
 * @returns the key, if it was made by this call: the only time it is seen.
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

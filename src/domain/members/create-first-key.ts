import { unscoped } from '../../db/unscoped.ts'
import { createApiKeyUnlessNamed } from '../api-keys/api-keys.ts'
import { type Connection, enterOrganization, type ServiceContext } from '../context.ts'
import { caseKey } from '../text/fold-text.ts'
import { inTransaction } from '../transaction.ts'
import { addressEquals } from '../validation/address-equals.ts'
import { toStoredAddress } from '../validation/email-address.ts'
import { inviteMember } from './invite-member.ts'

type Wanted = { organization: string; apiKey: string | undefined }

/**
 * Creates the organization and its live key if missing. Names are unique, so only one of several starting processes creates them.
 *
 * @returns the key if this call created it: the only time it is shown.
 */
export async function createFirstKey(ctx: ServiceContext, { organization: name, apiKey }: Wanted): Promise<string | null> {
  const { db, deps } = ctx
  const now = deps.clock()
  await db.organization.createMany({
    data: [{ id: deps.newId(), name, nameKey: caseKey(name), createdAt: now, updatedAt: now }],
    skipDuplicates: true,
  })
  const organization = await db.organization.findUniqueOrThrow({ where: { nameKey: caseKey(name) } })
  if (!apiKey) return null
  const created = await createApiKeyUnlessNamed(ctx, { organizationId: organization.id, name: apiKey, mode: 'live' })
  return created?.key ?? null
}

/**
 * Invites the first admin of an organization that is there, by mail: unless somebody has that address in it already.
 *
 * @returns true if this call did it.
 */
export async function inviteFirstAdmin(
  ctx: ServiceContext,
  { organization: name, email }: { organization: string; email: string },
): Promise<boolean> {
  return inTransaction(ctx, async (inside) => {
    // Processes that start simultaneously are serialized here: one creates the member.
    const organization = await organizationsNamed(inside.db, name).select(['id', 'name', 'tier']).forUpdate().executeTakeFirst()
    if (!organization) return false
    const operator = enterOrganization({ ...inside, actor: { kind: 'operator' } }, organization)
    const members = operator.db.selectFrom('members').where(({ ref }) => addressEquals(ref('email'), toStoredAddress(email)))
    if (await members.select('id').executeTakeFirst()) return false
    await inviteMember(operator, { email, roles: ['admin'], mails: true })
    return true
  })
}

const organizationsNamed = (db: Connection, name: string) =>
  unscoped(db).selectFrom('organizations').where('nameKey', '=', caseKey(name))

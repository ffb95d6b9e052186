import { affectedRows } from '../../db/statements.ts'
import { tenantDb } from '../../db/tenant-db.ts'
import { recordAudit } from '../audit/record-audit.ts'
import type { ServiceContext } from '../context.ts'
import { type AccountLink, claimLink, findOpenLink, type PendingJoin } from './account-links.ts'
import { renameUser } from './rename-user.ts'
import { toMemberContext } from './sessions.ts'

/** Locks the member that a link was made for: before the credential, as everybody does who locks both. */
export const lockMember = ({ db }: ServiceContext, { organizationId, memberId }: { organizationId: string; memberId: string }) =>
  affectedRows(
    tenantDb(db, { organization: { id: organizationId }, mode: 'all' })
      .selectFrom('members')
      .select('id')
      .where('id', '=', memberId)
      .forNoKeyUpdate(),
  )

/**
 * Uses up the join link and activates its member for the signed-in person. The member must be locked.
 *
 * @returns false if the link is invalid or used.
 */
export async function completeJoin(
  inside: ServiceContext,
  credentialId: string,
  { linkId, firstName, lastName }: PendingJoin,
): Promise<boolean> {
  const ref = { id: linkId, kind: 'join' } as const
  const link = await findOpenLink(inside, ref)
  if (!link || !(await claimLink(inside, ref))) return false
  await attachCredential(inside, link, credentialId, { firstName, lastName })
  return true
}

/** Makes a person the member. */
export async function attachCredential(
  inside: ServiceContext,
  { member }: Pick<AccountLink, 'member'>,
  credentialId: string,
  names: { firstName: string; lastName: string },
): Promise<void> {
  const updatedAt = inside.deps.clock()
  await inside.db.member.update({
    where: { organizationId: member.organization.id, id: member.id },
    data: { credentialId, updatedAt },
  })
  await renameUser(inside, member.userId, names)
  await recordAudit(toMemberContext(inside, member), { action: 'joined' })
}

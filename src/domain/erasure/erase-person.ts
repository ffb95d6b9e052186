import { sql } from '../../db/builder.ts'
import type { SqlBool } from '../../db/queries.ts'
import { scopeWhere } from '../../db/queries.ts'
import { type Context, inMode } from '../context.ts'
import { DomainError } from '../errors.ts'
import { getInvite } from '../invites/invites.ts'
import { requestErasure } from './request-erasure.ts'

/**
 * Asks for the erasure of an invite's candidate, if all of their invites are in the bulk change. Candidates who have started one, even if it
 * was revoked later, are kept unless the change includes them.
 */
export async function erasePerson(
  inside: Context,
  inviteId: string,
  { includesStarted }: { includesStarted?: boolean },
  changeId: string,
): Promise<void> {
  if (await isBeingErased(inside, inviteId)) return
  const { recipientEmail: address } = await getInvite(inside, inviteId)
  const everywhere: Context = inMode(inside, 'all')
  const chosen = inside.db.selectFrom('bulkChangeRows').where('bulkChangeId', '=', changeId).select('inviteId')
  const invites = await everywhere.db
    .selectFrom('invites')
    .where(({ ref }) => sql<SqlBool>`address_key(${ref('invites.recipientEmail')}) = address_key(${address})`)
    .select((eb) => ['invites.status', 'invites.startedAt', eb('invites.id', 'in', chosen).as('isChosen')])
    .orderBy('invites.id')
    .forUpdate('invites')
    .execute()
  const say = (problem: 'otherInvites' | 'hasStarted') =>
    new DomainError('invalid', { issues: [{ field: '', rule: 'account', problem }] })
  if (invites.some(({ isChosen }) => !isChosen)) throw say('otherInvites')
  const hasStarted = invites.some(({ status, startedAt }) => startedAt || status === 'started' || status === 'completed')
  if (hasStarted && !includesStarted) throw say('hasStarted')
  await requestErasure(inside, { address })
}

/**
 * True if another row of the change, or somebody else, has asked for the candidate's erasure already. An erasure locks invites before the rows of
 * bulk changes that go with them, so waiting for its invites could deadlock.
 */
async function isBeingErased(ctx: Context, inviteId: string): Promise<boolean> {
  const where = { ...scopeWhere(ctx), inviteId, erasure: { subject: 'candidate' } }
  return (await ctx.db.erasedInvite.count({ where })) > 0
}

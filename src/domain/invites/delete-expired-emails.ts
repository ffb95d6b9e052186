import { affectedRows } from '../../db/statements.ts'
import { unscoped } from '../../db/unscoped.ts'
import { repeatBatch } from '../concurrency/bisect.ts'
import type { ServiceContext } from '../context.ts'
import { DAY_MS } from '../time/days.ts'

/** Days after the end of an invite: a year, and time to investigate. */
const KEPT_DAYS = 400
const EMAILS_AT_ONCE = 1_000
/** Final states. */
const OVER = ['sent', 'captured', 'failed'] as const

/** Deletes records of emails a while after their invites have ended. */
export async function deleteExpiredEmails({ db, deps }: ServiceContext): Promise<void> {
  const until = new Date(deps.clock().getTime() - KEPT_DAYS * DAY_MS)
  await repeatBatch(EMAILS_AT_ONCE, (atMost) => {
    const old = unscoped(db)
      .selectFrom('inviteEmails as email')
      .innerJoin('invites as invite', (join) =>
        join.onRef('invite.organizationId', '=', 'email.organizationId').onRef('invite.id', '=', 'email.inviteId'),
      )
      .select('email.id')
      // Emails are created before their invite ends, so their index finds candidates for deletion.
      .where('email.state', 'in', OVER)
      .where('email.createdAt', '<', until)
      .where('invite.status', 'in', ['completed', 'revoked', 'expired'])
      .where(({ fn, ref }) => fn.coalesce('invite.completedAt', 'invite.revokedAt', ref('invite.expiresAt')), '<', until)
      .limit(atMost)
    return affectedRows(unscoped(db).deleteFrom('inviteEmails').where('id', 'in', old))
  })
}

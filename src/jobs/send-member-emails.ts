import type { PgBoss } from 'pg-boss'
import { recordFailedSignIn } from '../domain/access/sign-in.ts'
import type { ServiceContext } from '../domain/context.ts'
import { createResetLink } from '../domain/members/invite-member.ts'
import {
  findMemberEmails,
  giveUpMemberEmail,
  type MemberEmail,
  recordMemberEmailAttempt,
  whyMemberEmailObsolete,
} from '../domain/members/member-emails.ts'
import type { Line } from './line.ts'
import type { Deliver } from './mailing.ts'
import { type AddressJob, DEAD_MEMBER_EMAILS, FAILED_SIGN_INS, MEMBER_EMAILS, PASSWORD_RESETS } from './queue.ts'
import { startSending } from './send-mail.ts'

/** Starts the workers that send mails to members, and look into who wants a new password, or gave a wrong one. They end with `boss.stop()`. */
export async function startSendingMemberEmails(
  boss: PgBoss,
  system: ServiceContext,
  { deliver, line }: { deliver: Deliver<MemberEmail>; line: Line },
): Promise<void> {
  await startSending(
    boss,
    system,
    {
      noun: 'a mail to a member',
      queue: MEMBER_EMAILS,
      deadQueue: DEAD_MEMBER_EMAILS,
      isUrgent: true,
      find: findMemberEmails,
      whyObsolete: whyMemberEmailObsolete,
      // Nothing stops the mails about one's own account.
      admit: async () => ({ until: null, release: () => {} }),
      deliver,
      record: recordMemberEmailAttempt,
      giveUp: giveUpMemberEmail,
      count: system.deps.metrics.memberEmailAttempted,
      idsOf: ({ memberId, organizationId, kind }) => ({ memberId, organizationId, kind }),
    },
    line,
  )
  await boss.work<AddressJob>(PASSWORD_RESETS, async (jobs) => {
    for (const { data } of jobs) await createResetLink(system, data.email, { mails: true })
  })
  await boss.work<AddressJob>(FAILED_SIGN_INS, async (jobs) => {
    for (const { data } of jobs) await recordFailedSignIn(system, data.email)
  })
}

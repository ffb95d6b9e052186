import type { JobResult, PgBoss } from 'pg-boss'
import { recordFailedSignIn } from '../domain/access/sign-in.ts'
import type { ServiceContext } from '../domain/context.ts'
import {
  findMemberEmails,
  giveUpMemberEmail,
  isDigest,
  type MemberEmail,
  recordMemberEmailAttempt,
  whyMemberEmailObsolete,
} from '../domain/mails/member-emails.ts'
import { createResetLink } from '../domain/members/invite-member.ts'
import type { Line } from './mail-dispatcher.ts'
import { BATCHES, settle, startSending } from './mail-workers.ts'
import type { Deliver } from './mailing.ts'
import { type AddressJob, DEAD_MEMBER_EMAILS, FAILED_SIGN_INS, MEMBER_EMAILS, PASSWORD_RESETS } from './queue.ts'

/** Starts the workers that send mails to members, create password reset links, and record failed sign-ins. They end with `boss.stop()`. */
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
      rankOf: ({ kind }) => (isDigest(kind) ? 2 : kind === 'text_test' ? 1 : 0),
      find: findMemberEmails,
      whyObsolete: whyMemberEmailObsolete,
      // Mails about one's own account are never suppressed.
      whySuppressed: async () => null,
      // While an organization is suspended, its members' mails are obsolete instead.
      isHeld: () => false,
      putOff: async () => {},
      admit: async () => ({ until: null, release: () => {} }),
      deliver,
      record: recordMemberEmailAttempt,
      giveUp: giveUpMemberEmail,
      count: system.deps.metrics.memberEmailAttempted,
      idsOf: ({ memberId, organizationId, kind }) => ({ memberId, organizationId, kind }),
    },
    line,
  )
  await boss.work<AddressJob>(
    PASSWORD_RESETS,
    BATCHES,
    forEach((email) => createResetLink(system, email, { mails: true })),
  )
  await boss.work<AddressJob>(
    FAILED_SIGN_INS,
    BATCHES,
    forEach((email) => recordFailedSignIn(system, email)),
  )
}

/** Runs jobs one after the other, each with its own result. */
const forEach = (work: (email: string) => Promise<unknown>) => async (jobs: { id: string; data: AddressJob }[]) => {
  const results: JobResult[] = []
  for (const { id, data } of jobs) results.push(await settle(id, work(data.email)))
  return results
}

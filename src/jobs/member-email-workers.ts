import type { JobResult, PgBoss } from 'pg-boss'
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
import { recordFailedSignIn } from '../domain/sign-in/sign-in.ts'
import type { MailDispatcher } from './mail-dispatcher.ts'
import { BATCH_OPTIONS, startMailWorkers, toJobResult } from './mail-workers.ts'
import type { MailDelivery } from './mailing.ts'
import { type AddressJob, DEAD_MEMBER_EMAILS, FAILED_SIGN_INS, MEMBER_EMAILS, PASSWORD_RESETS } from './queue.ts'

/** Starts the workers that send mails to members, create password reset links, and record failed sign-ins. They end with `boss.stop()`. */
export async function startMemberEmailWorkers(
  boss: PgBoss,
  system: ServiceContext,
  { deliver, dispatcher }: { deliver: MailDelivery<MemberEmail>; dispatcher: MailDispatcher },
): Promise<void> {
  await startMailWorkers(
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
      isSuspended: () => false,
      postpone: async () => {},
      admit: async () => ({ until: null, release: () => {} }),
      deliver,
      record: recordMemberEmailAttempt,
      giveUp: giveUpMemberEmail,
      count: system.deps.metrics.memberEmailAttempted,
      idsOf: ({ memberId, organizationId, kind }) => ({ memberId, organizationId, kind }),
    },
    dispatcher,
  )
  await boss.work<AddressJob>(
    PASSWORD_RESETS,
    BATCH_OPTIONS,
    forEach((email) => createResetLink(system, email, { mails: true })),
  )
  await boss.work<AddressJob>(
    FAILED_SIGN_INS,
    BATCH_OPTIONS,
    forEach((email) => recordFailedSignIn(system, email)),
  )
}

/** Runs jobs one after the other, each with its own result. */
const forEach = (work: (email: string) => Promise<unknown>) => async (jobs: { id: string; data: AddressJob }[]) => {
  const results: JobResult[] = []
  for (const { id, data } of jobs) results.push(await toJobResult(id, work(data.email)))
  return results
}

import type { PgBoss } from 'pg-boss'
import type { ServiceContext } from '../domain/context.ts'
import { queueRegistrations } from '../domain/open-links/queue-registrations.ts'
import {
  findRegistrationEmails,
  giveUpRegistration,
  type RegistrationEmail,
  recordRegistrationAttempt,
  whyRegistrationObsolete,
  whyRegistrationSuppressed,
} from '../domain/open-links/registration-emails.ts'
import type { MailDispatcher } from './mail-dispatcher.ts'
import { BATCH_OPTIONS, startMailWorkers, toJobResult } from './mail-workers.ts'
import type { MailDelivery } from './mailing.ts'
import { DEAD_REGISTRATION_EMAILS, REGISTRATION_EMAILS, REGISTRATIONS, type RegistrationsJob } from './queue.ts'
import { runJob } from './run-job.ts'

/** Starts the workers that send mails to people who have registered by open links. They end with `boss.stop()`. */
export async function startRegistrationWorkers(
  boss: PgBoss,
  system: ServiceContext,
  { deliver, dispatcher }: { deliver: MailDelivery<RegistrationEmail>; dispatcher: MailDispatcher },
): Promise<void> {
  await startMailWorkers(
    boss,
    system,
    {
      noun: 'a mail of an open link',
      queue: REGISTRATION_EMAILS,
      deadQueue: DEAD_REGISTRATION_EMAILS,
      rankOf: () => 0,
      find: findRegistrationEmails,
      whyObsolete: whyRegistrationObsolete,
      whySuppressed: whyRegistrationSuppressed,
      // While an organization is suspended, its links are off, so the mails are obsolete instead.
      isSuspended: () => false,
      postpone: async () => {},
      // Limits were applied when the mail was queued, see queue-registrations.ts.
      admit: async () => ({ until: null, release: () => {} }),
      deliver,
      record: recordRegistrationAttempt,
      giveUp: giveUpRegistration,
      count: system.deps.metrics.emailAttempted,
      idsOf: ({ id, organizationId }) => ({ registrationId: id, organizationId }),
    },
    dispatcher,
  )
  await boss.work<RegistrationsJob>(REGISTRATIONS, BATCH_OPTIONS, async (jobs) => {
    const results = []
    for (const job of jobs) {
      const work = runJob(REGISTRATIONS, job, async () => void (await queueRegistrations(system, job.data.organizationId)))
      results.push(await toJobResult(job.id, work))
    }
    return results
  })
}

import type { PgBoss } from 'pg-boss'
import type { ServiceContext } from '../domain/context.ts'
import { processMailEvent } from '../domain/invites/record-mail-event.ts'
import type { MailEventReaders } from '../domain/mails/mail-events.ts'
import { BATCH_OPTIONS, toJobResult } from './mail-workers.ts'
import { MAIL_EVENTS, type MailEventJob } from './queue.ts'
import { runJob } from './run-job.ts'

/** Starts the worker that processes bounces and delivery reports. It ends with `boss.stop()`. */
export async function startMailEventWorker(boss: PgBoss, system: ServiceContext, readers: MailEventReaders): Promise<void> {
  const processEvent = async (id: string) => {
    await processMailEvent(system, readers, id).catch((err) => {
      system.deps.log.error({ err, mailEventId: id }, 'a mail event could not be processed yet')
      throw err
    })
  }
  await boss.work<MailEventJob>(MAIL_EVENTS, BATCH_OPTIONS, async (jobs) => {
    const results = []
    for (const job of jobs)
      results.push(
        await toJobResult(
          job.id,
          runJob(MAIL_EVENTS, job, () => processEvent(job.data.id)),
        ),
      )
    return results
  })
}

import { expect, it, onTestFinished } from 'vitest'
import { ask, openTestDatabase, startProcess } from '../support/processes.ts'
import { startSmtpListener } from '../support/smtp.ts'

// Jobs contain the id of their organization, which limits their queries to its rows. Their log lines have the outcome of the job.

type Job = { name: string; data: Record<string, string> }

/** Starts a service that only adds jobs, and a mail server that defers the first mail. `work` starts a worker. */
async function startServices() {
  const { url: DATABASE_URL, db, make } = await openTestDatabase()
  onTestFinished(() => db.$disconnect())
  let refusals = 1
  const smtp = await startSmtpListener({
    onRcptTo: (_, __, callback) =>
      callback(refusals-- > 0 ? Object.assign(new Error('Greylisted'), { responseCode: 450 }) : undefined),
  })
  onTestFinished(() => smtp.close())
  const settings = { DATABASE_URL, SMTP_URL: smtp.url }
  const { id: organizationId, key } = await make.organization()
  const { id: assessmentId } = await make.assessment(organizationId)
  const api = await startProcess({ ...settings, ROLE: 'api' })
  const add = async (resource: string, body: object) =>
    expect([201, 202]).toContain((await ask(api, key, resource, { assessmentId, ...body })).status)
  const jobs = () => db.$queryRaw<Job[]>`SELECT name, data FROM pgboss.job WHERE name NOT LIKE 'sweep%' ORDER BY created_on`
  return { db, organizationId, add, jobs, work: () => startProcess({ ...settings, ROLE: 'worker' }) }
}

it("logs a job's queue, attempt, duration, and outcome", async () => {
  const { db, organizationId, add, jobs, work } = await startServices()
  await add('/invites', { recipientEmail: 'later@example.com' })
  const [{ name: queue, data }] = (await jobs()) as [Job]
  expect([queue, data.organizationId]).toEqual(['invitation-email', organizationId])
  const worker = await work()
  const later = await worker.waitForLog('an invitation could not be sent yet')
  const about = { emailId: data.emailId, organizationId, queue, job: expect.any(String), durationMs: expect.any(Number) }
  expect(later).toMatchObject({ ...about, attempt: 1, outcome: 'retried', event: 'mail_not_sent_yet' })
  await db.$executeRaw`UPDATE pgboss.job SET start_after = now() WHERE state = 'retry'`
  const sent = await worker.waitForLog('an invitation was sent')
  expect(sent).toMatchObject({ ...about, job: later.job, attempt: 2, outcome: 'sent', event: 'mail_sent' })
})

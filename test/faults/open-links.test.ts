import request from 'supertest'
import { expect, it, onTestFinished } from 'vitest'
import { makeOpenLink, readerOf } from '../support/open-links.ts'
import { type ServiceProcess, startProcess } from '../support/processes.ts'
import { type Service, startServiceForTest } from '../support/service.ts'
import { startSmtpListener } from '../support/smtp.ts'
import { waitUntil } from '../support/wait-until.ts'

/** A killed process's mails take up to a minute, as in kills.test.ts. */
const RECOVERY_MS = 300_000

it('survives kills of the service between the form and its mail, and between the mail and Begin', async () => {
  const smtp = await startSmtpListener()
  onTestFinished(smtp.close)
  // Creates the link and reads the database, but runs no jobs.
  const own = await startServiceForTest({ ROLE: 'api' })
  let proc: ServiceProcess
  const launch = async () => {
    proc = await startProcess({ DATABASE_URL: own.databaseUrl, SMTP_URL: smtp.url })
  }
  const kill = async () => {
    proc.kill('SIGKILL')
    await proc.exited
  }
  const service: Service = { ...own, http: () => request(proc.url) }

  await launch()
  const link = await makeOpenLink(service)
  const [email, solution] = ['visitor@example.com', await link.prove()]
  expect((await link.send({ email, solution })).status).toBe(200)
  await kill()
  await launch()
  // Sending the form again does not create another registration.
  expect((await link.send({ email, solution })).status).toBe(200)
  await waitUntil('the mail', () => smtp.mails.length > 0 || undefined, RECOVERY_MS)
  const [registration, ...others] = await link.registrations()
  expect(others).toEqual([])

  const reader = readerOf(service, registration!)
  expect((await reader.open()).status).toBe(200)
  await kill()
  await launch()
  const begun = await reader.press('begin')
  await kill()
  await launch()
  const again = await reader.press('begin')
  expect([begun.status, again.status, again.headers.location]).toEqual([303, 303, begun.headers.location])
  expect(await link.invites(email)).toMatchObject([{ status: 'accepted', source: 'open' }])
  // A kill may repeat the mail, but with the same message id.
  expect(new Set(smtp.mails.map(({ parsed }) => parsed.messageId)).size).toBe(1)
})

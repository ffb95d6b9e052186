import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { SMTPServerOptions } from 'smtp-server'
import { expect, it, onTestFinished } from 'vitest'
import { createMailer } from '../../src/mail/mailer.ts'
import { findFreePort } from '../support/free-port.ts'
import { ask, openTestDatabase, type ServiceProcess, startProcess } from '../support/processes.ts'
import { LONG, scaled } from '../support/scale.ts'
import { type SmtpListener, startSmtpListener } from '../support/smtp.ts'
import { waitUntil } from '../support/wait-until.ts'

async function start(smtpUrl: string, env: Record<string, string> = {}) {
  const database = await openTestDatabase()
  const organization = await database.make.organization()
  const { id: assessmentId } = await database.make.assessment(organization.id)
  const settings = { DATABASE_URL: database.url, SMTP_URL: smtpUrl, RATE_LIMIT_STANDARD: '1000000' }
  const service = await startProcess({ ...settings, ...env })
  const startWorker = () => startProcess({ ...settings, ROLE: 'worker' })
  onTestFinished(() => database.db.$disconnect())
  return { ...database, key: organization.key, assessmentId, service, startWorker }
}

type Started = Awaited<ReturnType<typeof start>>

const invite = async ({ service, key, assessmentId }: Started, email: string, by: ServiceProcess = service) =>
  (await ask(by, key, '/invites', { assessmentId, recipientEmail: email })).status

async function listen(behavior: SMTPServerOptions = {}, port = 0): Promise<SmtpListener> {
  const smtp = await startSmtpListener(behavior, port)
  onTestFinished(() => smtp.close())
  return smtp
}

/** Makes retries, and probes of a server that accepts no mails, due now instead of after 15 s or more. */
const makeRetriesDue = async ({ db }: Started) => {
  await db.$executeRaw`UPDATE mail_outages SET next_probe_at = now()`
  await db.$executeRaw`UPDATE pgboss.job SET start_after = now() - interval '1 minute' WHERE state = 'retry' AND start_after > now()`
}

const emailOf = (started: Started, recipientEmail: string) =>
  started.db.inviteEmail.findFirstOrThrow({ where: { invite: { recipientEmail } } })

it('delivers every invite created while the mail server refused connections, once each', async () => {
  const port = await findFreePort()
  const started = await start(`smtp://127.0.0.1:${port}`)
  const emails = Array.from({ length: scaled(60, 500) }, (_, i) => `refused-${i}@example.com`)
  // Only four clients at a time, so that the mail server fails and not the connection pool.
  for (let i = 0; i < emails.length; i += 4) {
    const answers = await Promise.all(emails.slice(i, i + 4).map((email) => invite(started, email)))
    expect(answers).toEqual(answers.map(() => 201))
  }
  await waitUntil(
    'a failed attempt',
    async () => (await started.db.inviteEmail.count({ where: { attempts: { gt: 0 } } })) || undefined,
  )

  const smtp = await listen({}, port)
  const delivered = async () => {
    await makeRetriesDue(started)
    return smtp.mails.length >= emails.length || undefined
  }
  await waitUntil('all mails', delivered)
  await waitUntil(
    'all rows to be updated',
    async () => (await started.db.inviteEmail.count({ where: { state: 'sent' } })) === emails.length || undefined,
  )
  expect(smtp.mails.map(({ envelope }) => envelope.to[0]).sort()).toEqual([...emails].sort())
})

it('retries the same message after a 4xx until it is accepted', async () => {
  let refusals = 0
  const smtp = await listen({
    onRcptTo(_address, _session, callback) {
      if (refusals++ < 3) callback(Object.assign(new Error('Try again later'), { responseCode: 451 }))
      else callback()
    },
  })
  const started = await start(smtp.url)
  expect(await invite(started, 'greylisted@example.com')).toBe(201)
  const accepted = async () => {
    await makeRetriesDue(started)
    return smtp.mails[0]
  }
  const mail = await waitUntil('the mail', accepted)
  const email = await emailOf(started, 'greylisted@example.com')
  expect(mail.parsed.messageId).toContain(email.id)
  await waitUntil('its row', async () => ((await emailOf(started, 'greylisted@example.com')).state === 'sent' ? true : undefined))
  expect(await emailOf(started, 'greylisted@example.com')).toMatchObject({ attempts: 4, reason: '' })
  expect(smtp.mails).toHaveLength(1)
})

it("shows a 550 as failed at once, with the server's reply, and doesn't retry", async () => {
  let asked = 0
  const smtp = await listen({
    onRcptTo(_address, _session, callback) {
      asked++
      callback(Object.assign(new Error('No such user here'), { responseCode: 550 }))
    },
  })
  const started = await start(smtp.url)
  expect(await invite(started, 'nobody@example.com')).toBe(201)
  const email = await waitUntil('the refusal', async () => {
    const found = await emailOf(started, 'nobody@example.com')
    return found.state === 'failed' ? found : undefined
  })
  expect(email.reason).toContain('No such user here')
  expect(asked).toBe(1)
  const [{ waiting }] = await started.db.$queryRaw<[{ waiting: bigint }]>`
    SELECT count(*) AS waiting FROM pgboss.job WHERE name = 'invitation-email' AND state IN ('created', 'retry')`
  expect(waiting).toBe(0n)
})

it("shows a refusal as failed even if its text contains characters that can't be stored", async () => {
  const replies: [RegExp, string][] = [
    [/^EHLO/, '250 hostile.example.com'],
    [/^RCPT/, '550 No \u0000such mailbox'],
  ]
  const hostile = await listenRaw((client) => {
    client.write('220 hostile.example.com\r\n')
    client.on('data', (bytes) => {
      const reply = replies.find(([command]) => command.test(bytes.toString()))?.[1] ?? '250 OK'
      client.write(`${reply}\r\n`)
    })
  })
  const started = await start(`smtp://127.0.0.1:${hostile.port}`)
  expect(await invite(started, 'unspeakable@example.com')).toBe(201)
  const email = await waitUntil('the refusal', async () => {
    const found = await emailOf(started, 'unspeakable@example.com')
    return found.state === 'failed' ? found : undefined
  })
  expect(email).toMatchObject({ attempts: 1, reason: '550 No such mailbox' })
})

it('delays no other mails for a server that greets at one byte a second', async () => {
  const smtp = await listen()
  const port = Number(new URL(smtp.url).port)
  let connections = 0
  const slow = await slowGreeter(port, () => connections++ < 3)
  const started = await start(`smtp://127.0.0.1:${slow.port}`, { ROLE: 'api' })
  const emails = Array.from({ length: 10 }, (_, i) => `patient-${i}@example.com`)
  for (const email of emails) expect(await invite(started, email)).toBe(201)
  await started.startWorker()
  // Three connections get a slow greeting, so three mails are late and the other seven arrive.
  await waitUntil('the mails over the other connections', () => (smtp.mails.length >= 7 ? true : undefined))
  expect(slow.released()).toBe(0)
})

it('sends each mail once, however long it waits for a slow server', async () => {
  const held: (() => void)[] = []
  let holds = true
  const smtp = await listen({
    onRcptTo(_address, _session, callback) {
      if (holds) held.push(callback)
      else callback()
    },
  })
  const started = await start(smtp.url, { ROLE: 'api' })
  const emails = Array.from({ length: 30 }, (_, i) => `unhurried-${i}@example.com`)
  for (const email of emails) expect(await invite(started, email)).toBe(201)
  await started.startWorker()
  // No other mail is sent at first.
  await waitUntil('the first mail', () => held[0])

  // Age the jobs by ten minutes, and start another process that could send them.
  holds = false
  const { db } = started
  await db.$executeRaw`UPDATE pgboss.job SET started_on = now() - interval '10 minutes' WHERE state = 'active'`
  const begun = new Date()
  const looks = () => db.$queryRaw<unknown[]>`SELECT FROM pgboss.queue WHERE name = 'invitation-email' AND monitor_on > ${begun}`
  await started.startWorker()
  await waitUntil('a check for lost jobs', async () => (await looks())[0])
  emails.push('latest@example.com')
  expect(await invite(started, 'latest@example.com')).toBe(201)
  const latestIsSent = async () => {
    await makeRetriesDue(started)
    return smtp.mails.some(({ envelope }) => envelope.to[0] === 'latest@example.com') || undefined
  }
  // Mails that the server delays don't delay this one, whichever process sends it.
  await waitUntil('the latest mail to be sent', latestIsSent)
  for (const goOn of held) goOn()
  const sent = async () => (await db.inviteEmail.count({ where: { state: 'sent' } })) === emails.length || undefined
  await waitUntil('all rows to be updated', sent)
  expect(smtp.mails.map(({ envelope }) => envelope.to[0]).sort()).toEqual([...emails].sort())
})

it.runIf(LONG)('sends each of many mails once to a server that takes 9 s for each reply', async () => {
  const smtp = await listen({ hidePIPELINING: true })
  const slow = await slowServer(Number(new URL(smtp.url).port), 9_000)
  const started = await start(`smtp://127.0.0.1:${slow.port}`)
  const emails = Array.from({ length: 99 }, (_, i) => `slow-${i}@example.com`)
  for (const email of emails) expect(await invite(started, email)).toBe(201)
  const sent = async () => (await started.db.inviteEmail.count({ where: { state: 'sent' } })) === emails.length || undefined
  await waitUntil('all rows to be updated', sent, 800_000)
  expect(smtp.mails.map(({ envelope }) => envelope.to[0]).sort()).toEqual([...emails].sort())
})

it('gives up on a server whose greeting never ends', async () => {
  const trickle = await listenRaw((client) => {
    client.write('220 trickle.example.com\r\n')
    const timer = setInterval(() => client.write('250-and so on\r\n'), 100)
    client.on('close', () => clearInterval(timer))
  })
  const smtp = { url: `smtp://127.0.0.1:${trickle.port}`, name: undefined, isOpportunistic: false }
  const mailer = createMailer(smtp, { deadline: 1_000 })
  onTestFinished(() => mailer.close())
  const address = 'trickle@example.com'
  const message = { messageId: '<1@example.com>', from: address, to: { name: '', address }, replyTo: address, headers: {} }
  const verdict = await mailer.send({ ...message, subject: 'One', text: 'One', html: '' })
  expect(verdict).toMatchObject({ kind: 'unable', about: 'unreachable' })
})

/** Forwards connections to `port`, but greets slow ones at one byte a second. */
async function slowGreeter(port: number, isSlow: () => boolean) {
  let released = 0
  const listener = await listenRaw((client) => {
    if (!isSlow()) return pass(client, port)
    const greeting = '220 slow.example.com ESMTP and so on and on and on\r\n'
    let sent = 0
    const timer = setInterval(() => client.write(greeting[sent++ % greeting.length]!), 1_000)
    client.on('close', () => {
      clearInterval(timer)
      released++
    })
  })
  /** Number of slow connections that were closed. */
  return { ...listener, released: () => released }
}

/** Forwards connections to `port`, and delays each reply after the greeting by this many milliseconds. */
const slowServer = (port: number, delay: number) => listenRaw((client) => pass(client, port, delay))

function pass(client: Socket, port: number, delay = 0): void {
  const upstream = connect(port, '127.0.0.1').on('error', () => client.destroy())
  client.on('close', () => upstream.destroy())
  client.pipe(upstream)
  let greeted = false
  upstream.on('data', (bytes) => {
    setTimeout(() => client.writable && client.write(bytes), greeted ? delay : 0)
    greeted = true
  })
  upstream.on('close', () => client.end())
}

/** Listens for connections, and passes each to the test's function. */
async function listenRaw(speak: (client: Socket) => void): Promise<{ port: number }> {
  const sockets: Socket[] = []
  const server = createServer((client) => {
    sockets.push(client.on('error', () => {}))
    speak(client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return { port: (server.address() as AddressInfo).port }
}

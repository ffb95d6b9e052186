import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { makeDataDir } from '../support/data-dir.ts'
import { layDatabaseLine } from '../support/line.ts'
import { type Outcome, putUnderLoad } from '../support/load.ts'
import {
  ask,
  launchService,
  openTestDatabase,
  type ServiceProcess,
  startProcess,
  type TestDatabase,
} from '../support/processes.ts'
import { LONG, scaled } from '../support/scale.ts'
import { type SmtpListener, startSmtpListener } from '../support/smtp.ts'
import { waitUntil } from '../support/wait-until.ts'

const ROUNDS = scaled(1, 5)
const REPLICAS = scaled(2, 4)
const STOPS = ROUNDS * REPLICAS

let database: TestDatabase
let smtp: SmtpListener
let env: Record<string, string>
let target: { key: string; assessmentId: string }
beforeAll(async () => {
  database = await openTestDatabase()
  smtp = await startSmtpListener()
  const organization = await database.make.organization()
  target = { key: organization.key, assessmentId: (await database.make.assessment(organization.id)).id }
  env = { DATABASE_URL: database.url, SMTP_URL: smtp.url, RATE_LIMIT_STANDARD: '1000000' }
})
afterAll(async () => {
  await smtp.close()
  await database.db.$disconnect()
})

type Stop = { outcomes: Outcome[]; code: number | null; logged: Set<unknown> }

/** Stops a replica at a random moment during requests on keep-alive and on new connections. */
async function stopUnderLoad(service: ServiceProcess): Promise<Stop> {
  const loads = [true, false].map((kept) => putUnderLoad({ url: service.url, ...target }, { kept, clients: 2 }))
  const outcomes = () => loads.flatMap((load) => load.outcomes)
  const enough = 10 + 20 * Math.random()
  await waitUntil('the load to have its effect', () => outcomes().length > enough || undefined)
  service.kill('SIGTERM')
  const { code } = await service.exited
  await Promise.all(loads.map((load) => load.stop()))
  return { outcomes: outcomes(), code, logged: new Set(service.log().map(({ reqId }) => reqId)) }
}

it(`drops no accepted request and no mail at ${STOPS} SIGTERMs under load, and exits within its limit`, async () => {
  const stops: Stop[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const replicas = await Promise.all(Array.from({ length: REPLICAS }, () => startProcess(env)))
    stops.push(...(await Promise.all(replicas.map(stopUnderLoad))))
  }
  // A process that doesn't stop within 8 s exits with 1.
  expect(stops.map(({ code }) => code)).toEqual(Array(STOPS).fill(0))

  const outcomes = stops.flatMap((stop) => stop.outcomes)
  const answered = outcomes.filter(({ complete }) => complete)
  expect(new Set(answered.map(({ status }) => status))).toEqual(new Set([200, 201]))
  // The operating system refuses late connections, and the service doesn't notice.
  const unanswered = outcomes.filter(({ complete }) => !complete)
  expect(unanswered.filter(({ error }) => error !== 'ECONNREFUSED' && error !== 'ECONNRESET')).toEqual([])
  for (const { logged, outcomes } of stops)
    expect(outcomes.filter(({ complete, requestId }) => !complete && logged.has(requestId))).toEqual([])

  const acknowledged = answered.filter(({ status }) => status === 201).map(({ email }) => email!)
  const kept = await database.db.invite.findMany({ select: { recipientEmail: true } })
  expect(kept.map(({ recipientEmail }) => recipientEmail).sort()).toEqual(acknowledged.sort())
  await startProcess(env)
  await smtp.waitFor(acknowledged.length)
  expect(smtp.mails.map(({ envelope }) => envelope.to[0]).sort()).toEqual(acknowledged)
})

it('still answers for a while after SIGTERM, announcing the stop on /readyz and by Connection: close', async () => {
  const service = await startProcess(env)
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
  service.kill('SIGTERM')
  await service.waitForLog('stopping')
  const ready = await fetch(`${service.url}/readyz`)
  expect([ready.status, await ready.json()]).toEqual([503, { status: 'not ready', problems: ['stopping'] }])
  const tags = await ask(service, target.key, '/tags')
  expect([tags.status, tags.headers.get('connection')]).toEqual([200, 'close'])
  expect(await service.exited).toEqual({ code: 0, signal: null })
})

it('answers for as long as STOP_NOTICE after SIGTERM, then exits', async () => {
  const service = await startProcess({ ...env, STOP_NOTICE: '6' })
  service.kill('SIGTERM')
  const { time } = await service.waitForLog('stopping')
  const answersNoMore = () =>
    ask(service, target.key, '/tags').then(
      () => undefined,
      () => true,
    )
  await waitUntil('it to answer no more', answersNoMore)
  expect((await service.exited).code).toBe(0)
  const answered = service.log().filter(({ status }) => status === 200)
  // Half of STOP_NOTICE, because a busy machine may send no request for a second. Still far more than without STOP_NOTICE.
  expect(Date.parse(answered.at(-1)!.time) - Date.parse(time)).toBeGreaterThan(3_000)
})

/** Starts a service that is sending a mail to a slow mail server, so that stopping it takes longer than a second. */
async function startBusy(delay: number): Promise<ServiceProcess> {
  let taken = 0
  const slow = await startSmtpListener({
    onRcptTo(_address, _session, callback) {
      taken++
      setTimeout(callback, delay)
    },
  })
  onTestFinished(() => slow.close())
  const service = await startProcess({ ...env, SMTP_URL: slow.url })
  const recipientEmail = `busy-${database.deps.newId()}@example.com`
  expect((await ask(service, target.key, '/invites', { assessmentId: target.assessmentId, recipientEmail })).status).toBe(201)
  await waitUntil('the mail to be on its way', () => taken || undefined)
  return service
}

it.runIf(LONG)("treats signals within a second as one, as npm repeats the terminal's Ctrl-C", async () => {
  const service = await startBusy(2_000)
  for (const signal of ['SIGINT', 'SIGINT', 'SIGTERM', 'SIGINT'] as const) service.kill(signal)
  expect(await service.exited).toEqual({ code: 0, signal: null })
  expect(service.log().filter(({ msg }) => msg === 'stopping')).toHaveLength(1)
})

it.runIf(LONG)('exits at once at a second signal after more than a second', async () => {
  const service = await startBusy(8_000)
  service.kill('SIGTERM')
  const { time } = await service.waitForLog('stopping')
  await waitUntil('a second to pass', () => Date.now() - Date.parse(time) > 1_100 || undefined)
  service.kill('SIGTERM')
  expect((await service.exited).code).toBe(1)
  expect(service.log().at(-1)!.msg).toBe('second signal: exiting immediately')
})

it('stops while still waiting for its database', async () => {
  const line = await layDatabaseLine(database.url, { mended: false })
  const service = launchService({ DATABASE_URL: line.url })
  await service.waitForLog('waiting for the database')
  service.kill('SIGTERM')
  expect(await service.exited).toEqual({ code: 0, signal: null })
  expect(service.log().filter(({ level }) => level === 'fatal' || level === 'error')).toEqual([])
})

it('finishes the mail in progress, and waits only its limit for a slow client', async () => {
  const { make, db } = database
  const slow = await startSmtpListener({ onRcptTo: (_address, _session, callback) => void setTimeout(callback, 3_000) })
  onTestFinished(() => slow.close())
  const service = await startProcess({ ...env, SMTP_URL: slow.url })
  const { id, key } = await make.organization()
  const assessment = await make.assessment(id)
  const slowClient = connect(Number(new URL(service.url).port), '127.0.0.1')
  slowClient.on('error', () => {})
  slowClient.write(
    `POST /api/v1/tags HTTP/1.1\r\nHost: x\r\nx-api-key: ${key}\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{`,
  )
  const recipientEmail = 'slow@example.com'
  expect((await ask(service, key, '/invites', { assessmentId: assessment.id, recipientEmail })).status).toBe(201)
  service.kill('SIGTERM')
  expect((await service.exited).code).toBe(0) // 1 after 8 s
  expect(await text(slowClient)).toBe('')
  expect(slow.mails.map(({ envelope }) => envelope.to)).toEqual([[recipientEmail]])
  expect((await db.inviteEmail.findFirstOrThrow({ where: { organizationId: id } })).state).toBe('sent')
})

it('finishes the demo organization before it stops', async () => {
  const service = launchService({ DATA_DIR: await makeDataDir() })
  await waitUntil('the service to listen', () => service.url || undefined)
  service.kill('SIGTERM')
  expect(await service.exited).toEqual({ code: 0, signal: null })
  expect(service.output()).toMatch(/its API key, shown this once:\s+ak_live_/)
})

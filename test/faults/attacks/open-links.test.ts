import { execFile } from 'node:child_process'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, expect, it } from 'vitest'
import { requestErasure } from '../../../src/domain/erasure/request-erasure.ts'
import { queueRegistrations } from '../../../src/domain/open-links/queue-registrations.ts'
import { makeOpenLink, NETWORKS } from '../../support/open-links.ts'
import { startProcess } from '../../support/processes.ts'
import { LONG, scaled } from '../../support/scale.ts'
import { SECRET_KEY, type Service, startService, startServiceForTest } from '../../support/service.ts'
import { startSmtpListener } from '../../support/smtp.ts'
import { waitUntil } from '../../support/wait-until.ts'
import { type OpenLinkFlood, sendForm, solveCheaply } from './flood-open-link.ts'

const HOUR_MS = 3_600_000
/** Default limits of an organization's mails. */
const LIMITS = { perHour: 200, perDay: 1_000 }
/** An attacker sends `forms` from `addresses`. Each of the visitors sends one form from its own address. */
const [forms, addresses, visitors] = [scaled(600, 10_000), scaled(10, 50), scaled(20, 200)]
const PROGRAM = path.join(import.meta.dirname, 'flood-open-link.ts')

const smtp = await startSmtpListener()
afterAll(smtp.close)

const sizeOfDatabase = async ({ db }: Service): Promise<number> => {
  const [row] = await db.$queryRaw<{ bytes: bigint }[]>`SELECT pg_database_size(current_database()) AS bytes`
  return Number(row!.bytes)
}

/** Returns the 99th percentile of the waits, in milliseconds. */
const p99 = (waits: number[]): number => waits.toSorted((a, b) => a - b)[Math.floor(waits.length * 0.99)]!

/** Lists another organization's invites again and again until the work is over. @returns the milliseconds of each request. */
async function timeOtherRequests(url: string, key: string, work: Promise<unknown>): Promise<number[]> {
  const waits: number[] = []
  let isOver = false
  const over = work.finally(() => {
    isOver = true
  })
  over.catch(() => {}) // awaited below
  while (!isOver) {
    const begun = performance.now()
    const answer = await fetch(`${url}/api/v1/invites`, { headers: { 'x-api-key': key } })
    await answer.arrayBuffer()
    expect(answer.status).toBe(200)
    waits.push(performance.now() - begun)
    await sleep(20)
  }
  await over
  return waits
}

it('keeps mails within their limits, delivers to all visitors, and serves others during a flood of forms', async () => {
  const before = await startService({ SMTP_URL: smtp.url })
  const { databaseUrl } = before
  const link = await makeOpenLink(before)
  const other = await before.make.organization()
  const otherAssessment = await before.make.assessment(other.id)
  for (let i = 0; i < 50; i++) await before.make.invite(otherAssessment)
  const sizeBefore = await sizeOfDatabase(before)
  await before.close()

  const proc = await startProcess({ DATABASE_URL: databaseUrl, SMTP_URL: smtp.url, RATE_LIMIT_STANDARD: '1000000' })
  const flood: OpenLinkFlood = {
    ...{ port: Number(new URL(proc.url).port), path: link.path, linkId: link.id, secretKey: SECRET_KEY },
    ...{ forms, addresses },
  }
  await timeOtherRequests(proc.url, other.key, sleep(1_000))
  const quiet = await timeOtherRequests(proc.url, other.key, sleep(scaled(500, 15_000)))
  const begun = performance.now()
  let isFlooded = false
  const attack = promisify(execFile)(process.execPath, [PROGRAM, JSON.stringify(flood)]).finally(() => {
    isFlooded = true
  })
  const visit = async () => {
    for (let nth = 0; nth < visitors; nth++) {
      const fields = { email: `visitor${nth}@example.com`, solution: await solveCheaply(flood) }
      expect(await sendForm(flood, fields, { from: `127.1.${Math.floor(nth / 250)}.${(nth % 250) + 1}` })).toBe(200)
      if (!isFlooded) await sleep(scaled(20, 150))
    }
  }
  const during = await timeOtherRequests(proc.url, other.key, Promise.all([attack, visit()]))
  const seconds = (performance.now() - begun) / 1_000
  const statuses: Record<string, number> = JSON.parse((await attack).stdout)
  proc.kill('SIGTERM')
  await proc.exited

  expect(Object.keys(statuses).every((status) => status === '200' || status === '429')).toBe(true)
  expect(statuses['200']).toBeLessThanOrEqual(addresses * 50)
  const service = await startServiceForTest({
    ...{ DATABASE_URL: databaseUrl, SMTP_URL: smtp.url },
    ...{ OPEN_LINK_MAILS_PER_HOUR: String(LIMITS.perHour), OPEN_LINK_MAILS_PER_DAY: String(LIMITS.perDay) },
  })
  const { db } = service
  const mailed = () => smtp.mails.map(({ envelope }) => envelope.to[0]!)
  const arrived = () => mailed().filter((address) => address.startsWith('visitor')).length
  const hourly: [mails: number, toVisitors: number][] = []
  for (let hours = 0; ; hours++) {
    await queueRegistrations(service.system, link.organization.id)
    await waitUntil(
      'the queued mails',
      async () => (await db.registration.count({ where: { state: 'queued' } })) === 0 || undefined,
    )
    const since = new Date(service.clock.now().getTime() - HOUR_MS)
    expect(await db.registration.count({ where: { queuedAt: { gt: since } } })).toBeLessThanOrEqual(LIMITS.perHour)
    expect(await db.registration.count({ where: { queuedAt: { gt: since }, proof: null } })).toBeLessThanOrEqual(20)
    hourly.push([mailed().length, arrived()])
    if (arrived() === visitors) break
    // Every network gets its first mail before any network gets its second.
    expect(hours).toBeLessThan(Math.ceil((addresses + visitors) / LIMITS.perHour) + 1)
    service.clock.advance(HOUR_MS)
  }
  expect(mailed().length).toBeLessThanOrEqual(LIMITS.perDay)
  expect(new Set(mailed()).size).toBe(mailed().length)
  const grown = ((await sizeOfDatabase(service)) - sizeBefore) / 2 ** 20
  expect(grown).toBeLessThan(20)
  // Waits depend on the machine, so only the long run checks them.
  if (!LONG) return
  const figures = {
    ...{ seconds, statuses, requests: [quiet.length, during.length], p99: [p99(quiet), p99(during)], megabytes: grown },
    mailsThenToVisitorsByHour: hourly,
  }
  process.stdout.write(`${JSON.stringify(figures)}\n`)
  expect(p99(during)).toBeLessThan(2 * p99(quiet))
}, 1_800_000)

// `unknown` and `new` are equal, so their difference shows the noise of the machine.
const CLASSES = ['unknown', 'new', 'known', 'completed', 'suppressed', 'erased'] as const
const TIMINGS = 200
const shuffle = <T>(items: readonly T[]): T[] =>
  items
    .map((item) => [Math.random(), item] as const)
    .toSorted(([one], [other]) => one - other)
    .map(([, item]) => item)
const median = (times: number[]): number => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]!

it.skipIf(!LONG)(
  'answers new, known, completed, suppressed, and erased addresses in the same time (only with TEST_LONG)',
  async () => {
    const limits = { OPEN_LINK_MAILS_PER_HOUR: '100000', OPEN_LINK_MAILS_PER_DAY: '100000' }
    const service = await startServiceForTest({ ...NETWORKS, ...limits, SMTP_URL: smtp.url })
    const link = await makeOpenLink(service)
    const { db, deps, clock } = service
    const addressOf = (kind: string, nth: number) => `${kind.padEnd(10, 'x')}${String(nth).padStart(3, '0')}@example.com`
    for (let nth = 0; nth < TIMINGS; nth++) {
      await service.make.invite(link.assessment, { recipientEmail: addressOf('known', nth) })
      const completed = { status: 'completed' as const, completedAt: clock.now() }
      await service.make.invite(link.assessment, { recipientEmail: addressOf('completed', nth), ...completed })
      const suppression = { organizationId: link.organization.id, mode: 'live' as const, reason: 'manual', since: clock.now() }
      await db.suppression.create({ data: { ...suppression, id: deps.newId(), address: addressOf('suppressed', nth) } })
      await service.make.invite(link.assessment, { recipientEmail: addressOf('erased', nth) })
      await requestErasure(link.ctx, { address: addressOf('erased', nth) })
      await waitUntil('the erasure', async () => (await link.invites(addressOf('erased', nth))).length === 0 || undefined)
    }
    const times: Record<(typeof CLASSES)[number], number[]> = {
      unknown: [],
      new: [],
      known: [],
      completed: [],
      suppressed: [],
      erased: [],
    }
    for (let nth = -10; nth < TIMINGS; nth++)
      // The order is random because background work of the previous request, such as a mail, may slow down the next one.
      for (const kind of shuffle(CLASSES)) {
        const solution = await link.prove()
        const begun = performance.now()
        const { status } = await link.send({ email: nth < 0 ? `warm${nth}.${kind}@example.com` : addressOf(kind, nth), solution })
        if (nth >= 0) times[kind].push(performance.now() - begun)
        expect(status).toBe(200)
        // Wait, so that this request's mail does not slow down the next request.
        const isUnjudged = { state: { in: ['waiting' as const, 'queued' as const] } }
        await waitUntil(
          'the registration to be processed',
          async () => (await db.registration.count({ where: isUnjudged })) === 0 || undefined,
        )
        await sleep(50)
      }
    const medians = CLASSES.map((kind) => median(times[kind]))
    process.stdout.write(`Medians in ms: ${CLASSES.map((kind, i) => `${kind} ${medians[i]!.toFixed(3)}`).join(', ')}\n`)
    expect(Math.max(...medians) / Math.min(...medians)).toBeLessThan(1.05)
  },
  1_800_000,
)

import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { DAY_MS } from '../support/factories.ts'
import { ask, openTestDatabase, startProcess } from '../support/processes.ts'
import { LONG, scaled } from '../support/scale.ts'
import { waitUntil } from '../support/wait-until.ts'

const INVITES = scaled(2_000, 200_000)
const KILLS = scaled(1, 2)
/** Minimum number of requests measured before and during the erasure. */
const REQUESTS = scaled(100, 400)
/** The short run has too few requests for a meaningful ratio on a busy machine, so only the long run checks it. */
const MOST_SLOWER = LONG ? 1.5 : Infinity
const LOCK_MS = 1_000
const FILLED_AT_ONCE = 1_000
const TIMEOUT_MS = LONG ? 1_500_000 : 300_000

type Filling = { like: string; ids: string[]; organizationId: string; assessmentId: string; completedAt: Date }

/** Creates these invites, each with a submission, a mail, and an event, on a connection without a statement timeout. */
async function fill(url: string, { like, ids, organizationId, assessmentId, completedAt }: Filling): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('SET statement_timeout = 0')
  // In batches: each invite updates the counter row of its day, and each transaction leaves one row version per invite.
  for (let i = 0; i < ids.length; i += FILLED_AT_ONCE)
    await client.query(
      `INSERT INTO invites SELECT copy.* FROM invites AS one, unnest($2::uuid[]) WITH ORDINALITY AS given (id, n),
         LATERAL jsonb_populate_record(one, jsonb_build_object('id', given.id, 'recipient_email', 'candidate-' || $4::int + n || '@example.com',
           'completed_at', $3::timestamptz)) AS copy
       WHERE one.id = $1`,
      [like, ids.slice(i, i + FILLED_AT_ONCE), completedAt, i],
    )
  // Without statistics, the planner assumes a small table, and triggers and foreign keys would scan all of it.
  await client.query('ANALYZE invites')
  const its = [organizationId, ids, completedAt]
  await client.query(
    `INSERT INTO submissions (id, organization_id, invite_id, assessment_id, question_replay_limit, answer_record_limit, state, created_at, updated_at)
     SELECT uuidv7(), $1, id, $4, 1, 1, 'submitted', $3, $3 FROM unnest($2::uuid[]) AS id`,
    [...its, assessmentId],
  )
  await client.query(
    `INSERT INTO invite_emails (id, organization_id, invite_id, link_version, state, created_at, updated_at)
     SELECT uuidv7(), $1, id, 1, 'sent', $3, $3 FROM unnest($2::uuid[]) AS id`,
    its,
  )
  await client.query(
    `INSERT INTO events (id, organization_id, invite_id, type, mode, actor_type, created_at, data)
     SELECT uuidv7(), $1, id, 'invite.created', 'live', 'system', $3, jsonb_build_object('inviteId', id, 'externalId', 'theirs')
     FROM unnest($2::uuid[]) AS id`,
    its,
  )
  await client.end()
}

it(`erases ${INVITES} invites due on one night, each once despite kills, while other requests continue`, async () => {
  const { db, deps, make, url } = await openTestDatabase()
  onTestFinished(() => db.$disconnect())
  const { id: organizationId, key } = await make.organization()
  const assessment = await make.assessment(organizationId)
  const other = await make.organization()
  await make.invite(await make.assessment(other.id))
  const now = Date.now()
  const completedAt = new Date(now - 40 * DAY_MS)
  const like = await make.invite(assessment, { status: 'completed', completedAt: new Date(now) })
  const ids = Array.from({ length: INVITES }, () => deps.newId())
  await fill(url, { like: like.id, ids, organizationId, assessmentId: assessment.id, completedAt })
  await db.$executeRaw`ANALYZE`
  const launch = () => startProcess({ DATABASE_URL: url, RATE_LIMIT_STANDARD: '1000000' })
  let running = await launch()
  const left = () => db.invite.count({ where: { organizationId, completedAt } })
  const isNumbered = async () => (await db.event.count({ where: { position: null } })) === 0 || undefined
  await waitUntil('the events to be sequenced', isNumbered, TIMEOUT_MS)

  const kept = { organizationId, completedDays: 30, updatedAt: new Date(now) }
  await db.organizationRetention.create({ data: { ...kept, beginsAt: new Date(now + DAY_MS), nextAt: new Date(now + DAY_MS) } })

  /** Measures reads and writes of both organizations. @returns the milliseconds of each, in ascending order. */
  const measure = async (isEnough: () => boolean) => {
    const times: number[] = []
    for (let i = 0; times.length < REQUESTS || !isEnough(); i++) {
      const since = performance.now()
      const by = i % 2 === 0 ? key : other.key
      const body = { assessmentId: assessment.id, recipientEmail: `live-${deps.newId()}@example.com`, sendEmail: false }
      const { status } = i % 4 === 0 ? await ask(running, key, '/invites', body) : await ask(running, by, '/invites?limit=10')
      expect(status).toBeLessThan(300)
      times.push(performance.now() - since)
      await sleep(20)
    }
    return times.sort((a, b) => a - b)
  }
  const say = (name: string, times: number[]) => {
    const [half, most] = [times[Math.floor(times.length / 2)]!, times[Math.floor(times.length * 0.95)]!]
    process.stdout.write(
      `${name}: ${times.length} requests, half within ${half.toFixed(1)} ms, 95 % within ${most.toFixed(1)} ms\n`,
    )
    return half
  }
  await measure(() => true) // warms up
  const quiet = say('before', await measure(() => true))
  expect(await left()).toBe(INVITES)
  expect(await db.erasure.count()).toBe(0)

  let longestLock = 0
  let watches = true
  const watching = (async () => {
    for (; watches; await sleep(50)) {
      const [row] = await db.$queryRaw<{ ms: number }[]>`
        SELECT coalesce(max(extract(epoch FROM clock_timestamp() - state_change) * 1000), 0)::float AS ms FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`
      longestLock = Math.max(longestLock, row!.ms)
    }
  })()
  const begins = new Date(now - DAY_MS)
  await db.organizationRetention.update({ where: { organizationId }, data: { beginsAt: begins, nextAt: begins } })
  await waitUntil('the erasures to begin', async () => ((await left()) < INVITES ? true : undefined), TIMEOUT_MS)
  const since = performance.now()
  const until = Math.floor(INVITES / (KILLS + 2))
  let remaining = INVITES
  const count = setInterval(() => void left().then((n) => (remaining = n)), 500)
  const busy = say('meanwhile', await measure(() => remaining < INVITES - until))
  for (let kill = 1; kill <= KILLS; kill++) {
    const after = Math.floor((INVITES * (KILLS - kill + 1)) / (KILLS + 2))
    await waitUntil('more invites to be erased', async () => ((await left()) <= after ? true : undefined), TIMEOUT_MS)
    running.kill('SIGKILL')
    await running.exited
    process.stdout.write(`killed with ${await left()} left\n`)
    running = await launch()
  }
  const finished = () => db.erasure.findFirst({ where: { organizationId, finishedAt: { not: null } } })
  const night = await waitUntil('the erasures to end', async () => (await finished()) ?? undefined, TIMEOUT_MS)
  clearInterval(count)
  watches = false
  await watching
  const seconds = (performance.now() - since) / 1_000
  process.stdout.write(
    `erased in ${seconds.toFixed(0)} s with ${KILLS} kills; the longest wait for a lock took ${longestLock.toFixed(0)} ms\n`,
  )

  expect(await left()).toBe(0)
  expect(await db.submission.count({ where: { organizationId } })).toBe(0)
  expect(night.counts).toMatchObject({
    invites: INVITES,
    submissions: INVITES,
    mails: INVITES,
    events: INVITES,
    completed: INVITES,
  })
  const erased = await db.event.groupBy({ by: ['inviteId'], where: { organizationId, type: 'invite.erased' }, _count: true })
  expect([erased.length, new Set(erased.map(({ _count }) => _count))]).toEqual([INVITES, new Set([1])])
  const [named] = await db.$queryRaw<{ n: bigint }[]>`SELECT count(*) AS n FROM events WHERE data ? 'externalId'`
  expect(Number(named!.n)).toBe(0)
  expect(await db.auditEntry.count({ where: { organizationId, action: 'erased_ended_invites' } })).toBe(1)
  expect(longestLock).toBeLessThan(LOCK_MS)
  expect(busy / quiet).toBeLessThan(MOST_SLOWER)
})

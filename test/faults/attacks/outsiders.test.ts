import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Client } from 'pg'
import request from 'supertest'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { candidateOf, NO_REQUIREMENTS } from '../../support/candidate.ts'
import { DAY_MS } from '../../support/factories.ts'
import { addInvites } from '../../support/fill-invites.ts'
import { openTestDatabase, type ServiceProcess, startProcess, type TestDatabase } from '../../support/processes.ts'
import { readProcessorTime } from '../../support/processor-time.ts'
import { LONG, scaled } from '../../support/scale.ts'
import { SECRET_KEY, type Service } from '../../support/service.ts'
import { takeAssessment } from '../../support/submissions.ts'
import { waitUntil } from '../../support/wait-until.ts'
import type { Flood } from './flood.ts'

// Checks that an outsider's attack does not block a client of another organization, which sends one request at a time.

/** Before these attacks were limited, memory rose above 1,000 MB. */
const MAX_RSS_MB = 500
const PROGRAM = path.join(import.meta.dirname, 'flood.ts')
const STALLED = scaled(300, 1_000)
const SEARCHED = scaled(20_000, 600_000)
const HANG_UP_AFTER_MS = scaled(200, 4_000)
const DUE = scaled(200, 2_000)
/** Time for which the connections stay open. */
const STAY_MS = 8_000
const BETWEEN_QUESTIONS_MS = 20

let database: TestDatabase
let proc: ServiceProcess
let service: Service
let key: string
beforeEach(async () => {
  database = await openTestDatabase()
  proc = await startProcess({ DATABASE_URL: database.url, MAX_REQUEST_WAIT: '1000', RATE_LIMIT_STANDARD: '1000000' })
  const parts = { ...database, http: () => request(proc.url), site: { secretKeys: [SECRET_KEY] } }
  service = parts as unknown as Service
  key = (await database.make.organization()).key
})
afterEach(() => database.db.$disconnect())

const rss = async () => Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${proc.pid}/status`, 'utf8'))![1]) / 1024

type Observed = { statuses: Set<number>; waits: number[]; rssMb: number }

/** Sends requests of another organization until the work is over. */
async function watch(work: Promise<unknown>): Promise<Observed> {
  const observed: Observed = { statuses: new Set(), waits: [], rssMb: 0 }
  let isOver = false
  const over = work.finally(() => {
    isOver = true
  })
  over.catch(() => {}) // awaited below
  while (!isOver) {
    const began = performance.now()
    const answer = await fetch(`${proc.url}/api/v1/tags`, { headers: { 'x-api-key': key } })
    await answer.arrayBuffer()
    observed.waits.push(performance.now() - began)
    observed.statuses.add(answer.status)
    observed.rssMb = Math.max(observed.rssMb, await rss())
    await sleep(BETWEEN_QUESTIONS_MS)
  }
  await over
  return observed
}

async function expectOthersServed(what: string, attack: () => Promise<unknown>): Promise<void> {
  const before = await watch(sleep(3_000))
  const during = await watch(attack())
  expect([...during.statuses]).toEqual([200])
  expect(during.rssMb).toBeLessThan(MAX_RSS_MB)
  const p99 = ({ waits }: Observed) => waits.sort((a, b) => a - b)[Math.floor(waits.length * 0.99)]!.toFixed(1)
  const figures = `p99 ${p99(before)} ms before, ${p99(during)} ms during, of ${during.waits.length}; at most ${during.rssMb.toFixed(0)} MB`
  if (LONG) process.stdout.write(`${what}: ${figures}\n`)
}

/** Attacks from a separate process. @returns the different statuses of the responses, with 0 for no response. */
async function flood(
  path: string,
  { tab = '', type, length, method = 'PUT', ...of }: Omit<Flood, 'port' | 'head'> & Head,
): Promise<string[]> {
  const head = `${method} ${path} HTTP/1.1\r\nHost: a\r\nSec-Fetch-Site: same-origin\r\nX-Tab: ${tab}\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`
  const order: Flood = { ...of, port: Number(new URL(proc.url).port), head }
  const before = await readProcessorTime(proc.pid)
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [PROGRAM, JSON.stringify(order)])
  const used = (((await readProcessorTime(proc.pid)) - before) / 1_000).toFixed(2)
  if (LONG) process.stdout.write(`${path.split('/').at(-1)}: ${stdout}; processor: attacker ${stderr}, service ${used} s\n`)
  return JSON.parse(stdout).map(([status]: [string]) => status)
}
type Head = { tab?: string; type: string; length: number; method?: string }

it('serves others while 150 connections send 3 MB each for an invite that was never accepted', async () => {
  const organization = await database.make.organization()
  const invite = await database.make.invite(await database.make.assessment(organization.id), NO_REQUIREMENTS)
  const { path } = candidateOf(service, invite)
  const photo = { type: 'image/jpeg', length: 3_000_000, bytes: 3_000_000, count: 150, stayMs: STAY_MS }
  await expectOthersServed('photos', async () => {
    for (const status of await flood(`${path}/session/photos/id_photo`, photo)) expect(status).toBeOneOf(['0', '409', '429'])
  })
})

it(`serves others while ${STALLED} connections send 880 kB of a part and stall`, async () => {
  const { session, tab, beginAttempt } = await takeAssessment(service)
  const part = { type: 'application/octet-stream', length: 890_000, bytes: 880_000, count: STALLED, stayMs: STAY_MS }
  const mediaId = await beginAttempt()
  await expectOthersServed('stalled parts', async () => {
    for (const status of await flood(`${session}/media/${mediaId}/parts/0/#`, { ...part, tab }))
      expect(status).toBeOneOf(['0', '408', '429', '503'])
  })
})

it('serves others during 150 anonymous sign-ins at once', async () => {
  const fields = 'email=nobody%40example.com&password=not-the-password'
  const head = { type: 'application/x-www-form-urlencoded', method: 'POST', length: fields.length + 1_000 }
  await expectOthersServed('sign-ins', async () => {
    const statuses = await flood('/portal/sign-in', { ...head, bytes: 1_000 + fields.length, count: 150, stayMs: STAY_MS })
    for (const status of statuses) expect(status).toBeOneOf(['0', '422', '429'])
  })
})

/** Creates an organization with this many invites. */
async function fill(count: number) {
  const { id, key, apiKeyId: keyId } = await database.make.organization()
  const { make } = database
  const made = [await make.assessment(id), await make.member(id), await make.tag(id), await make.tag(id)].map((row) => [row.id])
  const [assessmentIds, memberIds, tag, otherTag] = made as [string[], string[], string[], string[]]
  const furniture = { id, keyId, assessmentIds, memberIds, tagIds: [...tag, ...otherTag] }
  const client = new Client({ connectionString: database.url })
  await client.connect()
  await addInvites(client, furniture, count)
  await client.query('ANALYZE invites')
  await client.end()
  return { key }
}

it('serves others during 22 searches of all invites whose clients hang up', async () => {
  const searched = await fill(SEARCHED)
  const search = (path: string, signal: AbortSignal) =>
    fetch(`${proc.url}${path}`, {
      headers: { 'x-api-key': searched.key, 'x-service-docs-api-key': searched.key },
      signal,
    }).then(
      ({ status }) => status,
      () => 0,
    )
  const countRunning = async () => {
    const [{ running }] = await database.db.$queryRaw<[{ running: number }]>`
      SELECT count(*)::int AS running FROM pg_stat_activity
      WHERE datname = current_database() AND state = 'active' AND query LIKE '%recipient_email%' AND pid <> pg_backend_pid()`
    return running
  }
  await expectOthersServed('searches', async () => {
    const hangUp = new AbortController()
    const answers = Array.from({ length: 22 }, (_, i) =>
      search(i % 2 ? '/api/v1/invites?recipient=e' : '/api/alternate/assessment_invites?search=e', hangUp.signal),
    )
    await sleep(HANG_UP_AFTER_MS)
    const running = await countRunning()
    hangUp.abort()
    const began = performance.now()
    for (const status of await Promise.all(answers)) expect(status).toBeOneOf([0, 200, 429])
    await waitUntil('the searches to be canceled', async () => (await countRunning()) === 0 || undefined)
    const ms = (performance.now() - began).toFixed(0)
    if (LONG) process.stdout.write(`${running} were running, none ${ms} ms after the clients had gone\n`)
    await sleep(2_000)
  })
})

it(`serves others while ${DUE} invites with 100 tags each expire at once`, async () => {
  const { id, key } = await database.make.organization()
  const expiresAt = new Date(Date.now() - DAY_MS)
  const first = await database.make.invite(await database.make.assessment(id), { expiresAt, sentAt: expiresAt })
  const client = new Client({ connectionString: database.url })
  await client.connect()
  await client.query(
    `INSERT INTO invites SELECT (jsonb_populate_record(i, jsonb_build_object('id', gen_random_uuid(), 'recipient_email', 'due-' || n || '@example.com'))).*
     FROM invites i, generate_series(2, $2::int) n WHERE i.id = $1`,
    [first.id, DUE],
  )
  await client.query(
    `WITH added AS (
       INSERT INTO tags (id, organization_id, name, name_key, name_search, color, created_at, updated_at)
       SELECT gen_random_uuid(), $1, 'Tag ' || n, 'tag ' || n, 'tag ' || n, '#2563EB', now(), now() FROM generate_series(1, 100) n RETURNING id
     )
     INSERT INTO invite_tags (organization_id, invite_id, tag_id, position)
     SELECT $1, invites.id, added.id, row_number() OVER (PARTITION BY invites.id) FROM invites, added WHERE organization_id = $1`,
    [id],
  )
  await client.end()
  await expectOthersServed('due invites', async () => {
    const answer = await fetch(`${proc.url}/api/v1/invites?status=expired`, { headers: { 'x-api-key': key } })
    const { pagination } = (await answer.json()) as { pagination?: { total: number } }
    expect([answer.status, pagination?.total]).toEqual([200, DUE])
    // Lists count these as expired before the sweep has updated them.
    await waitUntil('all invites to be set to expired', async () => {
      const left = await database.db.invite.count({ where: { organizationId: id, status: 'pending' } })
      return left === 0 || undefined
    })
  })
})

import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDb, type Db, openPool } from '../../src/db/client.ts'
import { signForm, signInvitation } from '../../src/domain/secrets/invitation-tokens.ts'
import { CONSENT_VERSION } from '../../src/domain/submissions/taking/record-consent.ts'
import { factories, systemOn } from '../support/factories.ts'
import { readProcessorTimes } from '../support/processor-time.ts'
import { addEndpoint, type BenchContext } from './beside.ts'
import type { Cases } from './cases.ts'
import { type BenchDatabase, waitForRest } from './database.ts'
import type { OrganizationRows } from './fill-organization.ts'
import { keyHeader } from './load.ts'
import { makeRecording } from './recording.ts'
import { BENCH_SECRET, type Server, startService } from './servers.ts'

// Measures the capacity table of docs/operating/scale.md. Each invite goes through its whole life over HTTP, from its creation with mail,
// events, and webhook to the submission of twenty answers. The cost of an invite excludes the idle cost of the processes, so a busy machine
// gives the same figures.

const QUESTIONS = 20
const AT_ONCE = 4
const IDLE_MS = 5_000
const DONE_WITHIN = 600
/** Every check costs database time, so checks are rare. */
const LOOK_EVERY_MS = 500
const TEXT = 'An answer of some words. '.repeat(20)
const UNWATCHED = { screenRecording: false, webcamMonitoring: false, requireIdCapture: false }
const RECORDING = { seconds: 45, bytes: 45 * 125_000 }

/** Invites that no candidate opens. */
export const unanswered: Cases = () => [
  { name: 'invited', measure: (given) => measureLives(given, { lives: given.lives, answered: false, recorded: 0 }) },
]
/** Invites whose candidates answer every question with text. */
export const withTexts: Cases = () => [
  { name: `${QUESTIONS} texts`, measure: (given) => measureLives(given, { lives: given.lives, answered: true, recorded: 0 }) },
]
/** Invites whose candidates record half of their answers. */
export const withRecordings: Cases = () => [
  {
    name: 'half of them recorded',
    measure: (given) => measureLives(given, { lives: given.livesWithRecordings, answered: true, recorded: QUESTIONS / 2 }),
  },
]

/**
 * @property lives number of invites.
 * @property answered true if candidates answer.
 * @property recorded number of questions with a recorded answer; the others get text.
 */
type Lives = { lives: number; answered: boolean; recorded: number }

async function measureLives({ database, organizations, sink }: BenchContext, of: Lives) {
  const db = createDb(openPool(database.url, { max: 2 }))
  const server = await startService(database, sink)
  const organization = organizations.service
  await addEndpoint(server, organization, sink)
  const assessmentId = await makeAssessment(db, organization, of.recorded)
  const recording = of.recorded > 0 ? await makeRecording(RECORDING) : []
  const postmaster = await findPostmaster(database)
  const look = async () => ({ at: performance.now(), ...(await readUse(postmaster, server)) })
  const live = (email: string) => liveOnce({ database, server, organization, assessmentId, recording }, email, of)
  await live('warm.up')
  await waitForEnd(database, organization)
  const asleep = await look()
  await sleep(IDLE_MS)
  const [awake, before] = [await look(), await readSize(database)]
  let begun = 0
  const candidate = async () => {
    while (begun < of.lives) await live(`lives.${++begun}`)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, candidate))
  await waitForEnd(database, organization)
  const [over, after] = [await look(), await readSize(database)]
  await server.stop()
  await db.$disconnect()
  const share = (what: 'postgres' | 'service') => {
    const idle = ((awake[what] - asleep[what]) / (awake.at - asleep.at)) * (over.at - awake.at)
    return (over[what] - awake[what] - idle) / of.lives
  }
  return {
    life: {
      'PostgreSQL, ms': [share('postgres')],
      'service, ms': [share('service')],
      'disk of 1,000, MB': of.answered && of.recorded === 0 ? [((after - before) / of.lives) * 1e-3] : [],
      'joining a recording, ms': of.recorded > 0 ? [(over.joining - awake.joining) / (of.lives * of.recorded)] : [],
    },
  }
}

async function makeAssessment(db: Db, { id }: OrganizationRows, recorded: number): Promise<string> {
  const make = factories(systemOn(db))
  const assessment = await make.assessment(id)
  for (let i = 0; i < QUESTIONS; i++)
    await make.question(assessment, { order: i + 1, points: 10, responseType: i < recorded ? 'video' : 'text' })
  return assessment.id
}

type Stage = {
  database: BenchDatabase
  server: Server
  organization: OrganizationRows
  assessmentId: string
  recording: Buffer[]
}

/** Creates one invite and, if `answered`, submits all answers. */
async function liveOnce(
  { database, server, organization, assessmentId, recording }: Stage,
  email: string,
  { answered, recorded }: Lives,
) {
  const ask = async (method: string, path: string, status: number, init: RequestInit = {}) => {
    const response = await fetch(server.url + path, { method, redirect: 'manual', ...init }).catch(({ cause }) => {
      throw new Error(`${method} ${path}: ${cause}`)
    })
    const text = await response.text()
    if (response.status !== status)
      throw new Error(`${method} ${path}: status ${response.status}: ${text.replace(/<[^>]*>\s*/g, ' ').slice(0, 1500)}`)
    return text
  }
  const json = (body: object, headers = {}) => ({
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  const invites = '/api/v1/invites'
  const body = { assessmentId, recipientEmail: `${email}@example.com`, proctoringSettings: UNWATCHED }
  const { invite } = JSON.parse(await ask('POST', invites, 201, json(body, keyHeader(invites, organization.key))))
  if (!answered) return
  const token = signInvitation([BENCH_SECRET], { inviteId: invite.id, linkVersion: 1 })
  const proof = signForm([BENCH_SECRET], token)
  const press = (button: string, fields: [string, string][] = []) =>
    ask('POST', `/i/${token}/${button}`, 303, { body: new URLSearchParams([['proof', proof], ...fields]) })
  const open = () => ask('GET', `/i/${token}`, 200)
  await open()
  await press('accept')
  const media = /name="media" value="([^"]*)"/.exec(await open())?.[1] ?? ''
  await press('consent', [
    ['version', `${CONSENT_VERSION}`],
    ['media', media],
    ['language', 'en'],
  ])
  if (recorded > 0) await passChecks(database, invite.id)
  await press('start')
  const session = `/i/${token}/session`
  const tab = crypto.randomUUID()
  await ask('POST', `${session}/tab`, 200, json({ tab }))
  const own = { 'x-tab': tab }
  for (let number = 1; number <= QUESTIONS; number++) {
    if (number <= recorded) {
      await press('open', [['number', String(number)]])
      const begun = await ask('POST', `${session}/questions/${number}/attempts`, 201, json({ kind: 'video' }, own))
      const { mediaId } = JSON.parse(begun)
      const headers = { 'content-type': 'application/octet-stream', ...own }
      for (const [part, content] of recording.entries())
        await ask('PUT', `${session}/media/${mediaId}/parts/0/${part}`, 204, { headers, body: new Uint8Array(content) })
      await ask('POST', `${session}/media/${mediaId}/complete`, 202, json({ segments: [recording.length] }, own))
      await press('next', [['number', String(number)]])
    } else
      await press('answer', [
        ['number', String(number)],
        ['text', TEXT],
        ['then', 'next'],
      ])
  }
  await press('finish')
}

/** Records the passed device checks that a browser with a camera would report. */
const passChecks = ({ pool }: BenchDatabase, inviteId: string) =>
  pool.query(`UPDATE submissions SET passed_checks = '{camera,microphone}' WHERE invite_id = $1`, [inviteId])

/** Waits until all mails and webhooks are sent and all recordings are joined: this work is part of an invite's cost. */
async function waitForEnd(database: BenchDatabase, { id }: OrganizationRows): Promise<void> {
  const rest = `SELECT (SELECT count(*) FROM invite_emails WHERE organization_id = $1 AND state = 'queued')
    + (SELECT count(*) FROM webhook_deliveries WHERE organization_id = $1 AND state = 'waiting')
    + (SELECT count(*) FROM media_files WHERE organization_id = $1 AND state = 'joining')
    + (SELECT count(*) FROM events WHERE organization_id = $1 AND position IS NULL) AS rest`
  await waitForRest(database, rest, [id], DONE_WITHIN, LOOK_EVERY_MS)
}

async function readSize({ pool }: BenchDatabase): Promise<number> {
  const { rows } = await pool.query('SELECT pg_database_size(current_database()) AS bytes')
  return Number(rows[0].bytes)
}

/** Returns the process id of the postmaster, the parent of all other PostgreSQL processes. */
async function findPostmaster({ pool }: BenchDatabase): Promise<number> {
  const { rows } = await pool.query('SELECT pg_backend_pid() AS pid')
  return (await readProcessorTimes(rows[0].pid)).parent
}

/**
 * Processor time used so far, in milliseconds, by PostgreSQL (including its ended processes), the service, and the processes that join
 * recordings.
 */
async function readUse(postmaster: number, { pid }: Server) {
  const children = (await readFile(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8')).trim().split(' ').map(Number)
  const [main, service] = [await readProcessorTimes(postmaster), await readProcessorTimes(pid)]
  let postgres = main.own + main.ofEnded
  for (const child of children) postgres += (await readProcessorTimes(child)).own
  return { postgres, service: service.own, joining: service.ofEnded }
}

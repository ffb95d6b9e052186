import { createHash } from 'node:crypto'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { PgBoss } from 'pg-boss'
import { v7 as uuidv7 } from 'uuid'
import { partOf } from '../../src/domain/submissions/media/media.ts'
import { RECORDINGS } from '../../src/jobs/queue.ts'
import { openFolder } from '../../src/media/folder.ts'
import { readSlices } from '../media/recordings.ts'
import type { BenchDatabase } from './database.ts'
import type { Organization, Organizations } from './fill.ts'
import type { Sink } from './mail-sink.ts'
import { judge, type Result } from './measure.ts'
import { type Server, startService } from './rivals.ts'
import { askSteadily } from './steady.ts'
import { addEndpoint, replay } from './webhooks.ts'

// What those who ask for something notice of the other work of the process: each kind by itself, beside reads.

type Surroundings = { database: BenchDatabase; organizations: Organizations; sink: Sink; mails: number; seconds: number }
/** Work that waits to begin. @property left how much of it is not done yet. */
type Work = { begin: () => Promise<void>; left: () => Promise<number> }

/** The cases' names. */
export const BESIDE = { webhooks: 'reads beside webhooks', recordings: 'reads beside recordings' } as const

const WARM_UP_MS = 1_000
const LOOK_EVERY_MS = 50
const DONE_WITHIN_MS = 120_000
const ENDPOINTS = 5
/** One recording for so many mails of the dispatch, which is about as much work. */
const MAILS_A_RECORDING = 60
/** Interruptions of a recording: it is so many segments of four seconds. */
const SEGMENTS = 20

/** Measures one kind, in one process for all. */
export async function measureBeside(kind: keyof typeof BESIDE, surroundings: Surroundings): Promise<Result> {
  const { database, organizations, sink, seconds } = surroundings
  const server = await startService(database, { smtpUrl: sink.url })
  const work = kind === 'webhooks' ? await prepareWebhooks(server, surroundings) : await prepareRecordings(surroundings)
  const ask = (during: Promise<unknown>) => askSteadily(server, organizations.large, during)
  await ask(sleep(WARM_UP_MS))
  const idle = await ask(sleep(seconds * 1000))
  const before = await work.left()
  await work.begin()
  const begun = performance.now()
  const busy = await ask(waitUntilDone(work))
  const rate = before / ((performance.now() - begun) / 1000)
  await server.stop()
  const checks = [
    { what: `${kind}/s`, value: rate },
    { what: 'read, nothing else to do, p50 ms', value: idle },
    { what: `read, beside ${kind}, p50 ms`, value: busy },
    { what: 'p50 beside / without', value: busy / idle, ...judge(busy / idle, { atMost: 1.5 }) },
  ]
  return { name: BESIDE[kind], variants: [], checks }
}

async function waitUntilDone({ left }: Work): Promise<void> {
  const deadline = Date.now() + DONE_WITHIN_MS
  for (let rest = await left(); rest > 0; rest = await left()) {
    if (Date.now() > deadline) throw new Error(`${rest} are not done after ${DONE_WITHIN_MS / 1000} s`)
    await sleep(LOOK_EVERY_MS)
  }
}

/** Events of an organization that is told of them only when the work begins. */
async function prepareWebhooks(
  server: Server,
  { database: { pool }, organizations: { small }, sink, mails }: Surroundings,
): Promise<Work> {
  const events = Math.ceil(mails / ENDPOINTS)
  const { rows } = await pool.query<{ position: string }>(
    `WITH added AS (
       INSERT INTO events (id, organization_id, position, type, mode, invite_id, actor_type, data, created_at)
       SELECT uuidv7(), $1, position + i, 'invite.created', 'live', $2, 'system',
         jsonb_build_object('inviteId', $2::uuid, 'assessmentId', $3::uuid, 'status', 'pending', 'mode', 'live'), now()
       FROM event_numbering, generate_series(1, $4) AS i
     )
     UPDATE event_numbering SET position = position + $4 RETURNING position - $4 AS position`,
    [small.id, small.inviteIds[0], small.assessmentIds[0], events],
  )
  await sink.reset()
  const begin = async () => {
    for (let i = 0; i < ENDPOINTS; i++)
      await replay(server, small, await addEndpoint(server, small, sink.hooksUrl), rows[0]!.position)
  }
  return { begin, left: async () => events * ENDPOINTS - (await sink.count()).hooks }
}

/** Recordings of one submission, whose parts are in the store. */
async function prepareRecordings({ database, organizations: { small }, mails }: Surroundings): Promise<Work> {
  const { pool, url, dataDir } = database
  const submissionId = await addSubmission(database, small)
  const ids: string[] = []
  for (let i = 0; i < mails / MAILS_A_RECORDING; i++) ids.push(await addRecording({ pool, dataDir }, small, submissionId))
  const begin = async () => {
    const boss = new PgBoss({ connectionString: url, max: 1, supervise: false, schedule: false, migrate: false })
    boss.on('error', (error) => console.error(error))
    await boss.start()
    await boss.insert(
      RECORDINGS,
      ids.map((mediaId) => ({ data: { mediaId } })),
    )
    await boss.stop()
  }
  const left = async () => {
    const { rows } = await pool.query(`SELECT count(*)::int AS left FROM media WHERE id = ANY ($1) AND state = 'joining'`, [ids])
    return rows[0].left
  }
  return { begin, left }
}

async function addSubmission({ pool }: BenchDatabase, { id, inviteIds }: Organization): Promise<string> {
  const submissionId = uuidv7()
  await pool.query(
    `INSERT INTO submissions (id, organization_id, invite_id, assessment_id, question_replay_limit, answer_record_limit, created_at, updated_at)
     SELECT $1, organization_id, id, assessment_id, 1, 1, now(), now() FROM invites WHERE organization_id = $2 AND id = $3`,
    [submissionId, id, inviteIds[0]],
  )
  return submissionId
}

async function addRecording(
  { pool, dataDir }: Pick<BenchDatabase, 'pool' | 'dataDir'>,
  { id: organizationId }: Organization,
  submissionId: string,
): Promise<string> {
  const mediaId = uuidv7()
  const key = `${organizationId}/${mediaId}`
  const store = openFolder(path.join(dataDir, 'media'))
  await pool.query(
    `INSERT INTO media (id, organization_id, submission_id, kind, state, key, created_at, completed_at)
     VALUES ($1, $2, $3, 'answer', 'joining', $4, now(), now())`,
    [mediaId, organizationId, submissionId, key],
  )
  const slices = await readSlices('video-0')
  for (let segment = 0; segment < SEGMENTS; segment++)
    for (const [number, content] of slices.entries()) {
      const sha256 = createHash('sha256').update(content).digest()
      await store.put(partOf(key, { segment, number, sha256 }), content)
      await pool.query(
        `INSERT INTO media_parts (media_id, segment, number, organization_id, bytes, sha256, created_at) VALUES ($1, $2, $3, $4, $5, $6, now())`,
        [mediaId, segment, number, organizationId, content.length, sha256],
      )
    }
  return mediaId
}

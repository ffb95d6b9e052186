import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { PgBoss } from 'pg-boss'
import { v7 as uuidv7 } from 'uuid'
import { partOf } from '../../src/domain/files/media-keys.ts'
import { INVITATION_EMAILS, RECORDINGS } from '../../src/jobs/queue.ts'
import { openFolder } from '../../src/media/folder.ts'
import { readSlices } from '../media/recordings.ts'
import type { Cases } from './cases.ts'
import { type BenchDatabase, waitForRest } from './database.ts'
import type { Organization, Organizations } from './fill.ts'
import { newIds, type OrganizationRows } from './fill-organization.ts'
import { keyHeader, median } from './load.ts'
import type { Options } from './options.ts'
import { type Server, type Sink, startService } from './servers.ts'

// Measures how much webhooks, recordings, and mails slow down reads in the same process, one kind of work at a time.

export type BenchContext = Options & { database: BenchDatabase; organizations: Organizations; sink: Sink }
/** Prepared work that has not started. @property left query with its parameters: SELECT … AS rest, the number of unfinished items. */
type Work = { begin: () => Promise<void>; left: [text: string, values: unknown[]] }

const WARM_UP_MS = 1_000
const READ_EVERY_MS = 10
const DONE_WITHIN = 300
const ENDPOINTS = 5
/** A recording costs about as much work as this many messages. */
const MESSAGES_A_RECORDING = 60
/** Segments of one interrupted recording, four seconds each. */
const SEGMENTS = 20
const WEBHOOKS = '/api/v1/webhooks'

/** One case for each kind of work. One process serves the reads and does the work. */
export const concurrentWork: Cases = () =>
  Object.entries({ webhooks: prepareWebhooks, recordings: prepareRecordings, mails: prepareMails }).map(([name, prepare]) => ({
    name,
    measure: async (context) => {
      const { database, organizations, sink, seconds } = context
      const server = await startService(database, sink)
      const { begin, left } = await prepare(context, server)
      const read = (during: Promise<unknown>) => readSteadily(server, organizations.large, during)
      await read(sleep(WARM_UP_MS))
      const alone = await read(sleep(seconds * 1000))
      await begin()
      const beside = await read(waitForRest(database, ...left, DONE_WITHIN))
      await server.stop()
      return { beside: { p50: [beside] }, alone: { p50: [alone] } }
    },
  }))

/** Reads an invite every 10 ms on one connection until the promise settles. @returns the median response time in milliseconds. */
async function readSteadily({ url }: Server, { key, inviteIds }: Organization, during: Promise<unknown>): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const times: number[] = []
  let lasts = true
  const end = during.finally(() => {
    lasts = false
  })
  while (lasts) {
    const begun = performance.now()
    const address = `/api/v1/invites/${inviteIds[times.length % inviteIds.length]}`
    const [response] = await once(get(url + address, { headers: keyHeader(address, key), agent }), 'response')
    await once(response.resume(), 'end')
    if (response.statusCode !== 200) throw new Error(`GET ${address}: status ${response.statusCode}`)
    times.push(performance.now() - begun)
    await sleep(Math.max(0, begun + READ_EVERY_MS - performance.now()))
  }
  agent.destroy()
  await end
  return median(times)
}

/** Adds events before the webhooks exist. When the work begins, each new webhook replays them. */
async function prepareWebhooks(context: BenchContext, server: Server): Promise<Work> {
  const { database, organizations, sink, messages } = context
  const { id, inviteIds, assessmentIds } = organizations.small
  const { rows } = await database.pool.query<{ position: string }>(
    `WITH added AS (
       INSERT INTO events (id, organization_id, position, type, mode, invite_id, actor_type, data, created_at)
       SELECT uuidv7(), $1, position + i, 'invite.created', 'live', $2, 'system',
         jsonb_build_object('inviteId', $2::uuid, 'assessmentId', $3::uuid, 'status', 'pending', 'mode', 'live'), now()
       FROM event_sequence, generate_series(1, $4) AS i
     )
     UPDATE event_sequence SET position = position + $4 RETURNING position - $4 AS position`,
    [id, inviteIds[0], assessmentIds[0], messages / ENDPOINTS],
  )
  const begin = async () => {
    for (let i = 0; i < ENDPOINTS; i++) {
      const endpointId = await addEndpoint(server, organizations.small, sink)
      await post(server, organizations.small, `${WEBHOOKS}/${endpointId}/replay`, { fromCursor: rows[0]!.position })
    }
  }
  const sent = `SELECT count(*) FROM webhook_deliveries WHERE organization_id = $1 AND state = 'delivered'`
  return { begin, left: [`SELECT $2 - (${sent}) AS rest`, [id, messages]] }
}

/** Adds a webhook for new invites. @returns the endpoint's id. */
export async function addEndpoint(server: Server, organization: OrganizationRows, { hooksUrl: url }: Sink): Promise<string> {
  return (await post(server, organization, WEBHOOKS, { url, types: ['invite.created'] })).webhook.id
}

async function post({ url }: Server, { key }: OrganizationRows, address: string, body: object) {
  const headers = { ...keyHeader(address, key), 'content-type': 'application/json' }
  const response = await fetch(url + address, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`POST ${address}: status ${response.status}: ${await response.text()}`)
  // biome-ignore lint/suspicious/noExplicitAny: response body of v1
  return (await response.json()) as any
}

/** Adds unsent mails for pending invites. When the work begins, each mail gets its job. */
async function prepareMails({ database: { pool, url }, organizations: { large }, messages }: BenchContext): Promise<Work> {
  const { rows } = await pool.query<{ id: string }>(
    `INSERT INTO invite_emails (id, organization_id, invite_id, link_version, created_at, updated_at)
     SELECT uuidv7(), organization_id, id, link_version, now(), now()
     FROM invites WHERE organization_id = $1 AND status = 'pending' LIMIT $2 RETURNING id`,
    [large.id, messages],
  )
  const ids = rows.map(({ id }) => id)
  const left = `SELECT count(*) AS rest FROM invite_emails WHERE id = ANY ($1) AND state <> 'sent'`
  return { begin: () => addJobs(url, INVITATION_EMAILS, 'emailId', ids), left: [left, [ids]] }
}

/** Stores the parts of one submission's recordings. When the work begins, each recording gets its job. */
async function prepareRecordings({ database, organizations: { small }, messages }: BenchContext): Promise<Work> {
  const { pool, url, dataDir } = database
  const submissionId = uuidv7()
  await pool.query(
    `INSERT INTO submissions (id, organization_id, invite_id, assessment_id, question_replay_limit, answer_record_limit, created_at, updated_at)
     SELECT $1, organization_id, id, assessment_id, 1, 1, now(), now() FROM invites WHERE organization_id = $2 AND id = $3`,
    [submissionId, small.id, small.inviteIds[0]],
  )
  const ids = newIds(messages / MESSAGES_A_RECORDING)
  await pool.query(
    `INSERT INTO media_files (id, organization_id, submission_id, kind, state, key, created_at, completed_at)
     SELECT id, $2::uuid, $3, 'answer', 'joining', $2::uuid || '/' || id, now(), now() FROM unnest($1::uuid[]) AS id`,
    [ids, small.id, submissionId],
  )
  const store = openFolder(path.join(dataDir, 'media'))
  for (const [number, content] of (await readSlices('video-0')).entries()) {
    const sha256 = createHash('sha256').update(content).digest()
    for (const id of ids)
      for (let segment = 0; segment < SEGMENTS; segment++)
        await store.put(partOf(`${small.id}/${id}`, { segment, number, sha256 }), content)
    await pool.query(
      `INSERT INTO media_file_parts (media_id, segment, number, organization_id, bytes, sha256, created_at)
       SELECT id, segment, $2, $3, $4, $5, now() FROM unnest($1::uuid[]) AS id, generate_series(0, $6) AS segment`,
      [ids, number, small.id, content.length, sha256, SEGMENTS - 1],
    )
  }
  const left = `SELECT count(*) AS rest FROM media_files WHERE id = ANY ($1) AND state = 'joining'`
  return { begin: () => addJobs(url, RECORDINGS, 'mediaId', ids), left: [left, [ids]] }
}

/** @param field name of the field in the jobs' data that holds the id. */
async function addJobs(connectionString: string, queue: string, field: string, ids: string[]): Promise<void> {
  const boss = new PgBoss({ connectionString, max: 1, supervise: false, schedule: false, migrate: false })
  boss.on('error', console.error)
  await boss.start()
  const jobs = ids.map((id) => ({ data: { [field]: id } }))
  await boss.insert(queue, jobs)
  await boss.stop()
}

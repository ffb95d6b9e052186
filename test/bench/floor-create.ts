import { Pool } from 'pg'
import { PgBoss } from 'pg-boss'
import { v7 as uuidv7 } from 'uuid'
import { INVITATION_EMAILS } from '../../src/jobs/queue.ts'
import type { Key } from './floor.ts'
import { presentInvite } from './floor-v1.ts'

/** Like the service's own, but nobody works it. */
export const FLOOR_QUEUE = 'invitation-email-floor'

type Body = { assessmentId: string; recipientEmail: string }
type CreateInvite = (pool: Pool, key: Key, body: Body) => Promise<object | undefined>

const DAY_MS = 86_400_000

/** POST /api/v1/invites, by the statements that the service needs: the invite, its event, its mail and its job, or none of them. */
export async function prepareCreation(url: string): Promise<CreateInvite> {
  const insertJob = await prepareJobs(url)
  const handOverSoon = prepareHandingOver(url)
  return async (pool, { id: keyId, organizationId, createdById }, { assessmentId, recipientEmail }) => {
    const client = await pool.connect()
    try {
      await client.query('BEGIN')
      const now = new Date()
      const { rows } = await client.query({
        name: 'insert-invite',
        text: `INSERT INTO invites AS i (id, organization_id, assessment_id, recipient_email, status, question_replay_limit,
            answer_record_limit, screen_recording, webcam_monitoring, require_id_capture, face_photo_required, mode, created_by_id,
            created_by_key_id, sent_at, expires_at, created_at, updated_at)
          SELECT $1, $2, id, $4, 'pending', 1, 1, true, true, true, true, 'live', $5, $6, $7, $8, $7, $7
          FROM assessments WHERE organization_id = $2 AND id = $3
          ON CONFLICT DO NOTHING
          RETURNING *, (SELECT name FROM assessments a WHERE a.organization_id = i.organization_id AND a.id = i.assessment_id) AS assessment_name`,
        values: [
          uuidv7(),
          organizationId,
          assessmentId,
          recipientEmail,
          createdById,
          keyId,
          now,
          new Date(now.getTime() + 30 * DAY_MS),
        ],
      })
      await client.query({
        name: 'insert-event',
        text: `INSERT INTO events (id, organization_id, type, mode, invite_id, actor_type, actor_id, data, created_at)
          VALUES ($1, $2, 'invite.created', 'live', $3, 'api_key', $4, $5, $6)`,
        values: [
          uuidv7(),
          organizationId,
          rows[0].id,
          keyId,
          { inviteId: rows[0].id, assessmentId, status: 'pending', mode: 'live' },
          now,
        ],
      })
      const emailId = uuidv7()
      await client.query({
        name: 'insert-email',
        text: `INSERT INTO invite_emails (id, organization_id, invite_id, link_version, created_at, updated_at) VALUES ($1, $2, $3, 1, $4, $4)`,
        values: [emailId, organizationId, rows[0].id, now],
      })
      await client.query(insertJob({ emailId }))
      await client.query('COMMIT')
      handOverSoon()
      return { invite: presentInvite(rows[0]) }
    } catch (error) {
      await client.query('ROLLBACK')
      throw error
    } finally {
      client.release()
    }
  }
}

/** A queue with the options of the service's own, and pg-boss's own statement to add a job to it. */
async function prepareJobs(url: string) {
  const boss = new PgBoss({ connectionString: url, max: 1, supervise: false, schedule: false })
  boss.on('error', (error) => console.error('floor:', error))
  await boss.start()
  const queue = await boss.getQueue(INVITATION_EMAILS)
  if (!queue) throw new Error('The service has made no queue')
  await boss.createQueue(FLOOR_QUEUE, { ...queue })
  let statement = { text: '', job: {} }
  // Told, not done.
  await boss.send(FLOOR_QUEUE, {}, { db: { executeSql: async (text, values) => note(text, values as [string]) } })
  await boss.stop()
  const { text, job } = statement
  return (data: object) => ({ name: 'insert-job', text, values: [JSON.stringify([{ ...job, data }])] })

  function note(text: string, [jobs]: [string]) {
    statement = { text, job: JSON.parse(jobs)[0] }
    return { rows: [{ id: '' }] }
  }
}

/** How long events gather that are then handed over together: as long as in the service. */
const GATHER_MS = 50
const HAND_OVER = [
  'BEGIN',
  'SELECT FROM event_numbering FOR UPDATE',
  `WITH unnumbered AS MATERIALIZED (SELECT id, sequence FROM events WHERE position IS NULL ORDER BY sequence FOR NO KEY UPDATE SKIP LOCKED),
    numbered AS (
      UPDATE events SET position = next.position
      FROM (SELECT unnumbered.id, position + row_number() OVER (ORDER BY sequence) AS position FROM unnumbered, event_numbering) next
      WHERE events.id = next.id RETURNING 1
    )
  UPDATE event_numbering SET position = position + (SELECT count(*) FROM numbered)`,
  'COMMIT',
  'BEGIN',
  'SELECT FROM webhook_fanout FOR UPDATE',
  // As delivered, so that the service does not send them.
  `INSERT INTO webhook_deliveries (organization_id, endpoint_id, event_id, state, queued_at, next_attempt_at)
  SELECT w.organization_id, w.id, e.id, 'delivered', now(), now()
  FROM webhook_fanout f, event_numbering n, events e JOIN webhook_endpoints w ON w.organization_id = e.organization_id
  WHERE e.position > f.position AND e.position <= n.position AND w.state = 'active' AND e.type = ANY (w.types)
  ON CONFLICT DO NOTHING`,
  'UPDATE webhook_fanout SET position = (SELECT position FROM event_numbering)',
  'COMMIT',
]

/** Numbers the events and makes deliveries of them, which nobody sends. @returns has that done for what was committed just now. */
function prepareHandingOver(url: string): () => void {
  const pool = new Pool({ connectionString: url, max: 1 })
  let isDue = false
  const handOver = async () => {
    isDue = false
    const client = await pool.connect()
    let error: Error | undefined
    try {
      for (const [i, text] of HAND_OVER.entries()) await client.query({ name: `hand-over-${i}`, text })
    } catch (reason) {
      error = reason as Error
      throw reason
    } finally {
      client.release(error)
    }
  }
  return () => {
    if (!isDue) setTimeout(() => handOver().catch((error) => console.error('floor:', error)), GATHER_MS)
    isDue = true
  }
}

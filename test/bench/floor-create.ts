import { Client, type Pool } from 'pg'
import { PgBoss } from 'pg-boss'
import { v7 as uuidv7 } from 'uuid'
import { inviteView } from '../../src/interfaces/v1/invites.view.ts'
import { INVITATION_EMAILS } from '../../src/jobs/queue.ts'
import type { Key } from './floor.ts'
import { columns } from './floor-answers.ts'

export type Body = { assessmentId: string; recipientEmail: string }

/** A queue with the settings of the service's queue, but without a worker. */
const QUEUE = 'invitation-email-floor'
/** Events are collected for this time and then handed over in one batch, as in the service. */
const GATHER_MS = 50
const DAY_MS = 86_400_000

const INSERT_INVITE = `INSERT INTO invites AS r (id, organization_id, assessment_id, recipient_email, status, question_replay_limit,
    answer_record_limit, screen_recording, webcam_monitoring, require_id_capture, face_photo_required, mode, created_by_id,
    created_by_key_id, sent_at, expires_at, created_at, updated_at)
  SELECT $1, $2, id, $4, 'pending', 1, 1, true, true, true, true, 'live', $5, $6, $7, $8, $7, $7
  FROM assessments WHERE organization_id = $2 AND id = $3
  ON CONFLICT DO NOTHING
  RETURNING ${columns(inviteView, {
    assessmentName: '(SELECT a.name FROM assessments a WHERE a.organization_id = r.organization_id AND a.id = r.assessment_id)',
  })}`
const INSERT_EVENT = `INSERT INTO events (id, organization_id, type, mode, invite_id, actor_type, actor_id, data, created_at)
  VALUES ($1, $2, 'invite.created', 'live', $3, 'api_key', $4, $5, $6)`
const INSERT_EMAIL = `INSERT INTO invite_emails (id, organization_id, invite_id, link_version, created_at, updated_at)
  VALUES ($1, $2, $3, 1, $4, $4)`
/** Assigns positions to events and adds their deliveries in the state `delivered`, so the service does not send them. */
const HAND_OVER = [
  'BEGIN',
  'SELECT FROM event_sequence FOR UPDATE',
  `WITH unnumbered AS MATERIALIZED (SELECT id, sequence FROM events WHERE position IS NULL ORDER BY sequence FOR NO KEY UPDATE SKIP LOCKED),
    numbered AS (
      UPDATE events SET position = next.position
      FROM (SELECT unnumbered.id, position + row_number() OVER (ORDER BY sequence) AS position FROM unnumbered, event_sequence) next
      WHERE events.id = next.id RETURNING 1
    )
  UPDATE event_sequence SET position = position + (SELECT count(*) FROM numbered)`,
  'COMMIT',
  'BEGIN',
  'SELECT FROM webhook_fanout FOR UPDATE',
  `INSERT INTO webhook_deliveries (organization_id, endpoint_id, event_id, state, queued_at, next_attempt_at)
  SELECT w.organization_id, w.id, e.id, 'delivered', now(), now()
  FROM webhook_fanout f, event_sequence n, events e JOIN webhook_endpoints w ON w.organization_id = e.organization_id
  WHERE e.position > f.position AND e.position <= n.position AND w.state = 'active' AND e.type = ANY (w.types)
  ON CONFLICT DO NOTHING`,
  'UPDATE webhook_fanout SET position = (SELECT position FROM event_sequence)',
  'COMMIT',
]

/** POST /api/v1/invites with the service's statements: adds the invite, its event, its mail, and its job in one transaction. */
export async function prepareCreation(pool: Pool, url: string) {
  const boss = new PgBoss({ connectionString: url, max: 1, supervise: false, schedule: false })
  boss.on('error', (error) => console.error('floor:', error))
  await boss.start()
  const queue = await boss.getQueue(INVITATION_EMAILS)
  if (!queue) throw new Error('The service has made no queue')
  await boss.createQueue(QUEUE, { ...queue })
  const handing = new Client({ connectionString: url })
  await handing.connect()
  let isDue = false
  const handOver = async () => {
    const steps = isDue ? HAND_OVER : []
    isDue = false
    for (const [i, text] of steps.entries()) await handing.query({ name: `hand-over-${i}`, text })
    setTimeout(handOver, GATHER_MS)
  }
  await handOver()
  return async ({ id: keyId, organizationId, createdById }: Key, { assessmentId, recipientEmail }: Body): Promise<object> => {
    const client = await pool.connect()
    const run = (name: string, text: string, values: unknown[]) => client.query({ name, text, values })
    try {
      await client.query('BEGIN')
      const now = new Date()
      const expiresAt = new Date(now.getTime() + 30 * DAY_MS)
      const terms = [uuidv7(), organizationId, assessmentId, recipientEmail, createdById, keyId, now, expiresAt]
      const [invite] = (await run('insert-invite', INSERT_INVITE, terms)).rows
      const data = { inviteId: invite.id, assessmentId, status: 'pending', mode: 'live' }
      await run('insert-event', INSERT_EVENT, [uuidv7(), organizationId, invite.id, keyId, data, now])
      const emailId = uuidv7()
      await run('insert-email', INSERT_EMAIL, [emailId, organizationId, invite.id, now])
      await boss.send(QUEUE, { emailId }, { db: { executeSql: (text, values) => run('insert-job', text, values ?? []) } })
      await client.query('COMMIT')
      isDue = true
      return { invite }
    } catch (error) {
      await client.query('ROLLBACK')
      throw error
    } finally {
      client.release()
    }
  }
}

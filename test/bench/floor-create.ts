import type { Pool } from 'pg'
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

/** POST /api/v1/invites, by the statements that the service needs: the invite, its mail and its job, or none of them. */
export async function prepareCreation(url: string): Promise<CreateInvite> {
  const insertJob = await prepareJobs(url)
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
      const emailId = uuidv7()
      await client.query({
        name: 'insert-email',
        text: `INSERT INTO invite_emails (id, organization_id, invite_id, link_version, created_at, updated_at) VALUES ($1, $2, $3, 1, $4, $4)`,
        values: [emailId, organizationId, rows[0].id, now],
      })
      await client.query(insertJob({ emailId }))
      await client.query('COMMIT')
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

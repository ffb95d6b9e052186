import type { Request } from './floor.ts'

// What v1 answers, by hand: one prepared statement each, and for a counted list two.

const INVITE = `i.id, i.assessment_id, a.name AS assessment_name, i.recipient_email, i.recipient_name, i.status,
  i.question_replay_limit, i.answer_record_limit, i.sent_at, i.expires_at, i.accepted_at, i.started_at, i.completed_at`
const ASSESSMENT_OF_INVITE = 'JOIN assessments a ON a.organization_id = i.organization_id AND a.id = i.assessment_id'
const PAGE_SIZE = 20

/** GET /api/v1/invites/{id} */
export async function readInvite({ pool, key, id }: Request) {
  const { rows } = await pool.query({
    name: 'v1-invite',
    text: `SELECT ${INVITE}, i.screen_recording, i.webcam_monitoring, i.require_id_capture, i.custom_message, i.revoked_at,
        m.id AS grader_id, m.email AS grader_email, u.first_name, u.last_name
      FROM invites i ${ASSESSMENT_OF_INVITE}
        LEFT JOIN members m ON m.organization_id = i.organization_id AND m.id = i.assigned_grader_id
        LEFT JOIN users u ON u.id = m.user_id
      WHERE i.organization_id = $1 AND i.id = $2`,
    values: [key.organizationId, id],
  })
  const row = rows[0]
  return (
    row && {
      ...presentInvite(row),
      assignedGrader: row.grader_id && {
        id: row.grader_id,
        firstName: row.first_name,
        lastName: row.last_name,
        email: row.grader_email,
      },
      proctoringSettings: {
        screenRecording: row.screen_recording,
        webcamMonitoring: row.webcam_monitoring,
        requireIdCapture: row.require_id_capture,
      },
      customMessage: row.custom_message,
      revokedAt: row.revoked_at,
    }
  )
}

/** GET /api/v1/assessments/{id} */
export async function readAssessment({ pool, key, id }: Request) {
  const { rows } = await pool.query({
    name: 'v1-assessment',
    text: `SELECT a.id, a.name, a.default_question_format, a.default_answer_format, a.question_count, a.total_points, a.created_at, a.updated_at,
        ARRAY(SELECT l.code FROM assessment_languages al JOIN languages l ON l.id = al.language_id
          WHERE al.assessment_id = a.id ORDER BY al.position) AS languages,
        (SELECT coalesce(sum(c.count), 0)::int FROM assessment_invite_counts c WHERE c.assessment_id = a.id) AS invite_count
      FROM assessments a WHERE a.organization_id = $1 AND a.id = $2`,
    values: [key.organizationId, id],
  })
  const row = rows[0]
  return (
    row && {
      id: row.id,
      name: row.name,
      defaultQuestionFormat: row.default_question_format,
      defaultAnswerFormat: row.default_answer_format,
      languages: row.languages,
      questionCount: row.question_count,
      inviteCount: row.invite_count,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
      totalPoints: row.total_points,
    }
  )
}

/** GET /api/v1/tags/{id} */
export async function readTag({ pool, key, id }: Request) {
  const { rows } = await pool.query({
    name: 'v1-tag',
    text: 'SELECT id, name, color, description, created_at, updated_at FROM tags WHERE organization_id = $1 AND id = $2',
    values: [key.organizationId, id],
  })
  const row = rows[0]
  return (
    row && {
      tag: {
        id: row.id,
        name: row.name,
        color: row.color,
        description: row.description,
        createdAt: row.created_at,
        updatedAt: row.updated_at,
      },
    }
  )
}

/** GET /api/v1/invites, the newest first, perhaps of one status; with `uncounted` the page alone. */
export async function listInvites({ pool, key, query }: Request) {
  const status = query.get('status')
  const page = Number(query.get('page') ?? 1)
  const where = `i.organization_id = $1${status ? ' AND i.status = $2' : ''}`
  const values = [key.organizationId, ...(status ? [status] : [])]
  const named = (name: string) => `v1-${name}${status ? '-of-status' : ''}`
  const find = async () => {
    const { rows } = await pool.query({
      name: named('page'),
      text: `SELECT ${INVITE} FROM invites i ${ASSESSMENT_OF_INVITE} WHERE ${where}
        ORDER BY i.sent_at DESC, i.id DESC LIMIT ${PAGE_SIZE} OFFSET $${values.length + 1}`,
      values: [...values, (page - 1) * PAGE_SIZE],
    })
    return rows.map(presentInvite)
  }
  if (query.has('uncounted')) return { invites: await find() }
  const counted = await pool.query<{ total: number }>({
    name: named('count'),
    text: `SELECT count(*)::int AS total FROM invites i WHERE ${where}`,
    values,
  })
  const { total } = counted.rows[0]!
  const pagination = { page, limit: PAGE_SIZE, total, totalPages: Math.ceil(total / PAGE_SIZE) }
  return { invites: await find(), pagination }
}

type Row = Record<string, unknown>

/** JSON.stringify writes a Date as the service does. */
export const presentInvite = (row: Row) => ({
  id: row.id,
  assessmentId: row.assessment_id,
  assessmentName: row.assessment_name,
  recipientEmail: row.recipient_email,
  recipientName: row.recipient_name,
  status: row.status,
  questionReplayLimit: row.question_replay_limit,
  answerRecordLimit: row.answer_record_limit,
  sentAt: row.sent_at,
  expiresAt: row.expires_at,
  acceptedAt: row.accepted_at,
  startedAt: row.started_at,
  completedAt: row.completed_at,
})

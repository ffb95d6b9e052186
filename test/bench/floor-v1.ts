import type { Request, Row } from './floor.ts'
import { listOfV1 } from './floor-lists.ts'

// What v1 answers, by hand: one prepared statement each, and for a counted list two.

const INVITE = `i.id, i.assessment_id, a.name AS assessment_name, i.recipient_email, i.recipient_name, i.status,
  i.question_replay_limit, i.answer_record_limit, i.sent_at, i.expires_at, i.accepted_at, i.started_at, i.completed_at`
const ASSESSMENT = `a.id, a.name, a.default_question_format, a.default_answer_format, a.question_count, a.total_points, a.created_at, a.updated_at,
  ARRAY(SELECT l.code FROM assessment_languages al JOIN languages l ON l.id = al.language_id
    WHERE al.assessment_id = a.id ORDER BY al.position) AS languages,
  (SELECT coalesce(sum(c.count), 0)::int FROM assessment_invite_counts c WHERE c.assessment_id = a.id) AS invite_count`
const ASSESSMENT_OF_INVITE = 'JOIN assessments a ON a.organization_id = i.organization_id AND a.id = i.assessment_id'

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

const presentAssessment = (row: Row) => ({
  id: row.id,
  name: row.name,
  defaultQuestionFormat: row.default_question_format,
  defaultAnswerFormat: row.default_answer_format,
  languages: row.languages,
  questionCount: row.question_count,
  inviteCount: row.invite_count,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

const presentTag = (row: Row) => ({
  id: row.id,
  name: row.name,
  color: row.color,
  description: row.description,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

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
    text: `SELECT ${ASSESSMENT} FROM assessments a WHERE a.organization_id = $1 AND a.id = $2`,
    values: [key.organizationId, id],
  })
  return rows[0] && { ...presentAssessment(rows[0]), totalPoints: rows[0].total_points }
}

/** GET /api/v1/tags/{id} */
export async function readTag({ pool, key, id }: Request) {
  const { rows } = await pool.query({
    name: 'v1-tag',
    text: 'SELECT id, name, color, description, created_at, updated_at FROM tags WHERE organization_id = $1 AND id = $2',
    values: [key.organizationId, id],
  })
  return rows[0] && { tag: presentTag(rows[0]) }
}

/** GET /api/v1/invites, the newest first. */
export const listInvites = listOfV1('invites', {
  name: 'v1-invites',
  count: 'SELECT coalesce(sum(count), 0)::int AS total FROM organization_invite_counts WHERE organization_id = $1',
  rows: `SELECT ${INVITE} FROM invites i ${ASSESSMENT_OF_INVITE} WHERE i.organization_id = $1 ORDER BY i.sent_at DESC, i.id DESC`,
  present: presentInvite,
})

/** GET /api/v1/assessments, the newest first. */
export const listAssessments = listOfV1('assessments', {
  name: 'v1-assessments',
  count: 'SELECT count(*)::int AS total FROM assessments WHERE organization_id = $1',
  rows: `SELECT ${ASSESSMENT} FROM assessments a WHERE a.organization_id = $1 ORDER BY a.created_at DESC, a.id DESC`,
  present: presentAssessment,
})

/** GET /api/v1/members, who joined last first. */
export const listMembers = listOfV1('members', {
  name: 'v1-members',
  count: 'SELECT count(*)::int AS total FROM members WHERE organization_id = $1',
  rows: `SELECT m.id, u.first_name, u.last_name, m.email, u.avatar_url, m.roles, m.status, m.department, m.joined_at
    FROM members m JOIN users u ON u.id = m.user_id WHERE m.organization_id = $1 ORDER BY m.joined_at DESC, m.id DESC`,
  present: (row) => ({
    id: row.id,
    firstName: row.first_name,
    lastName: row.last_name,
    email: row.email,
    avatarUrl: row.avatar_url,
    roles: row.roles,
    status: row.status,
    department: row.department,
    joinedAt: row.joined_at,
  }),
})

/** GET /api/v1/tags, from Z to A. */
export const listTags = listOfV1('tags', {
  name: 'v1-tags',
  count: 'SELECT count(*)::int AS total FROM tags WHERE organization_id = $1',
  rows: `SELECT id, name, color, description, created_at, updated_at FROM tags
    WHERE organization_id = $1 ORDER BY name DESC, id DESC`,
  present: presentTag,
})

/** GET /api/v1/assessments/{id}/questions, the last first. */
export const listQuestions = listOfV1('questions', {
  name: 'v1-questions',
  count: 'SELECT question_count AS total FROM assessments WHERE organization_id = $1 AND id = $2',
  rows: `SELECT id, "order", input_type, script, audio_url, video_url, response_type, points, time_limit, source_language, target_language,
      created_at, updated_at
    FROM questions WHERE organization_id = $1 AND assessment_id = $2 ORDER BY "order" DESC, id DESC`,
  present: (row) => ({
    id: row.id,
    order: row.order,
    inputType: row.input_type,
    script: row.script,
    audioUrl: row.audio_url,
    videoUrl: row.video_url,
    responseType: row.response_type,
    points: row.points,
    timeLimit: row.time_limit,
    sourceLanguage: row.source_language ?? '',
    targetLanguage: row.target_language ?? '',
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }),
})

import type { Request, Row } from './floor.ts'
import { listOfAlternate } from './floor-lists.ts'

// What the alternate interface answers, by hand: one prepared statement each.

const INVITE = `i.id, i.assessment_session, i.created_at, i.updated_at, i.recipient_email, i.status, i.face_photo_required,
  i.require_id_capture, i.question_replay_limit, i.answer_record_limit, i.expires_at, i.organization_id, i.assessment_id,
  i.created_by_id, i.created_by_key_id, i.assigned_grader_id,
  ARRAY(SELECT t.tag_id FROM invite_tags t WHERE t.invite_id = i.id ORDER BY t.position) AS tags`
const ASSESSMENT = `a.*,
  ARRAY(SELECT tag_id FROM assessment_tags WHERE assessment_id = a.id ORDER BY position) AS tags,
  ARRAY(SELECT member_id FROM assessment_clients WHERE assessment_id = a.id ORDER BY position) AS clients,
  ARRAY(SELECT language_id FROM assessment_languages WHERE assessment_id = a.id ORDER BY position) AS languages,
  ARRAY(SELECT category_id FROM assessment_categories WHERE assessment_id = a.id ORDER BY position) AS categories`
const TAG = 'id, name, color, organization_id AS organization, created_by_id AS created_by, created_at, updated_at, icon'

/** JSON.stringify writes a Date as the service does. */
const presentInvite = (row: Row) => ({
  id: row.id,
  assessment_session: row.assessment_session,
  deleted: false,
  created_at: row.created_at,
  updated_at: row.updated_at,
  email: row.recipient_email,
  status: row.status,
  face_photo_required: row.face_photo_required,
  id_photo_required: row.require_id_capture,
  question_play_limit: row.question_replay_limit,
  answer_record_limit: row.answer_record_limit,
  expires_at: row.expires_at,
  organization: row.organization_id,
  assessment: row.assessment_id,
  user: null,
  created_by: row.created_by_id ?? row.created_by_key_id ?? '',
  assigned_grader: row.assigned_grader_id,
  tags: row.tags,
})

const presentAssessment = (row: Row) => ({
  id: row.id,
  question_count: row.question_count,
  tags: row.tags,
  clients: row.clients,
  client_count: row.clients.length,
  time_limit_minutes: Math.floor(row.time_limit / 60),
  time_limit_seconds: row.time_limit % 60,
  deleted: false,
  created_at: row.created_at,
  updated_at: row.updated_at,
  name: row.name,
  type: row.default_question_format,
  audience: row.audience,
  answer_type: row.default_answer_format,
  time_limit: row.time_limit,
  instruction: row.instruction_id,
  organization: row.organization_id,
  created_by: row.created_by_id ?? '',
  languages: row.languages,
  categories: row.categories,
  skill_type: row.skill_types,
})

/** GET /api/alternate/assessment_invites/{id} */
export async function readInvite({ pool, key, id }: Request) {
  const { rows } = await pool.query({
    name: 'alternate-invite',
    text: `SELECT ${INVITE} FROM invites i WHERE i.organization_id = $1 AND i.id = $2`,
    values: [key.organizationId, id],
  })
  return rows[0] && presentInvite(rows[0])
}

/** GET /api/alternate/assessments/{id} */
export async function readAssessment({ pool, key, id }: Request) {
  const { rows } = await pool.query({
    name: 'alternate-assessment',
    text: `SELECT ${ASSESSMENT} FROM assessments a WHERE a.organization_id = $1 AND a.id = $2`,
    values: [key.organizationId, id],
  })
  return rows[0] && presentAssessment(rows[0])
}

/** GET /api/alternate/tags/{id} */
export async function readTag({ pool, key, id }: Request) {
  const { rows } = await pool.query({
    name: 'alternate-tag',
    text: `SELECT ${TAG} FROM tags WHERE organization_id = $1 AND id = $2`,
    values: [key.organizationId, id],
  })
  return rows[0] as object | undefined
}

/** GET /api/alternate/assessment_invites, the oldest first. */
export const listInvites = listOfAlternate({
  name: 'alternate-invites',
  count: 'SELECT coalesce(sum(count), 0)::int AS total FROM organization_invite_counts WHERE organization_id = $1',
  rows: `SELECT ${INVITE} FROM invites i WHERE i.organization_id = $1 ORDER BY i.created_at, i.id`,
  present: presentInvite,
})

/** GET /api/alternate/assessments, the oldest first. */
export const listAssessments = listOfAlternate({
  name: 'alternate-assessments',
  count: 'SELECT count(*)::int AS total FROM assessments WHERE organization_id = $1',
  rows: `SELECT ${ASSESSMENT} FROM assessments a WHERE a.organization_id = $1 ORDER BY a.created_at, a.id`,
  present: presentAssessment,
})

/** GET /api/alternate/organization_users: those who are active, the oldest first. */
export const listOrganizationUsers = listOfAlternate({
  name: 'alternate-organization-users',
  count: `SELECT count(*)::int AS total FROM members WHERE organization_id = $1 AND status = 'active'`,
  rows: `SELECT m.id, m.created_at, m.updated_at, m.roles, m.can_view_transcription, m.organization_id, m.user_id,
      ARRAY(SELECT t.tag_id FROM member_tags t WHERE t.member_id = m.id ORDER BY t.position) AS tags,
      ARRAY(SELECT l.language_id FROM member_grading_languages l WHERE l.member_id = m.id ORDER BY l.position) AS languages,
      (SELECT count(*)::int FROM assessment_clients c WHERE c.organization_id = m.organization_id AND c.member_id = m.id) AS client_of
    FROM members m WHERE m.organization_id = $1 AND m.status = 'active' ORDER BY m.created_at, m.id`,
  present: (row) => ({
    id: row.id,
    tags: row.tags,
    assigned_assessments_count: row.client_of,
    deleted: false,
    created_at: row.created_at,
    updated_at: row.updated_at,
    roles: row.roles,
    can_view_transcription: row.can_view_transcription,
    organization: row.organization_id,
    user: row.user_id,
    grading_languages: row.languages,
  }),
})

/** GET /api/alternate/tags, the oldest first. */
export const listTags = listOfAlternate({
  name: 'alternate-tags',
  count: 'SELECT count(*)::int AS total FROM tags WHERE organization_id = $1',
  rows: `SELECT ${TAG} FROM tags WHERE organization_id = $1 ORDER BY created_at, id`,
  present: (row) => row,
})

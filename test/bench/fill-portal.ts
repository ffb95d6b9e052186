import { hash, randomBytes } from 'node:crypto'
import type { PoolClient } from 'pg'
import { v7 as uuidv7 } from 'uuid'
import { MAX_BATCH_ROWS } from '../../src/domain/limits.ts'
import { newIds, type OrganizationRows } from './fill-organization.ts'

/** A cookie for each role, and ids for the parameters of the portal's addresses. */
export type Portal = { cookies: Record<'admin' | 'grader' | 'client', string>; rows: Record<string, string>[] }

const SAMPLES = 20

/** Adds an audit log and lists of candidates to an organization with invites. The log gets one entry for every ten invites. */
export async function addPortal(client: PoolClient, organization: OrganizationRows, size: number): Promise<Portal> {
  const { id, memberIds, tagIds, assessmentIds } = organization
  const [admin, grader, viewer] = memberIds as [string, string, string]
  await client.query(
    `INSERT INTO audit_entries (id, organization_id, actor_kind, actor_id, action, target_kind, target_id, details, at)
     SELECT uuidv7(at - now()), $1, 'member', ($2::uuid[])[1 + i % cardinality($2::uuid[])],
       (ARRAY['invited', 'changed_tag', 'signed_in', 'updated_assessment'])[1 + i % 4], 'tag', ($3::uuid[])[1 + i % cardinality($3::uuid[])],
       '{"name": "Something"}', at
     FROM (SELECT i, now() - i * (interval '300 days' / $4::int) AS at FROM generate_series(1, $4::int) AS i) AS entry`,
    [id, memberIds, tagIds, Math.ceil(size / 10)],
  )
  const batchIds = newIds(2)
  await client.query(
    `INSERT INTO invite_batches (id, organization_id, assessment_id, created_by_id, terms, created_at, started_at, finished_at)
     SELECT unnest($2::uuid[]), $1, $3, $4, '{}', now(), now(), now()`,
    [id, batchIds, assessmentIds[0], admin],
  )
  await client.query(
    `INSERT INTO invite_batch_rows (batch_id, number, organization_id, state, email, name, terms, invite_id)
     SELECT unnest($2::uuid[]), row_number() OVER (), $1, 'invited', recipient_email, '', '{}', id
     FROM (SELECT * FROM invites WHERE organization_id = $1 LIMIT $3) AS invited`,
    [id, batchIds, Math.min(MAX_BATCH_ROWS, Math.ceil(size / 100))],
  )
  const { rows } = await client.query<Record<string, string>>(
    `SELECT * FROM
       (SELECT row_number() OVER () AS n, id AS "questionId", assessment_id AS "assessmentId"
        FROM questions WHERE organization_id = $1 LIMIT ${SAMPLES}) AS questions JOIN
       (SELECT row_number() OVER () AS n, id AS "assignedInviteId"
        FROM invites WHERE organization_id = $1 AND assigned_grader_id = $2 LIMIT ${SAMPLES}) AS assigned USING (n) JOIN
       (SELECT row_number() OVER () AS n, invites.id AS "clientInviteId", assessment_id AS "clientAssessmentId"
        FROM invites JOIN assessment_clients USING (organization_id, assessment_id)
        WHERE organization_id = $1 AND member_id = $3 LIMIT ${SAMPLES}) AS of_client USING (n)`,
    [id, grader, viewer],
  )
  const cookies = {
    admin: await signIn(client, admin, 'admin'),
    grader: await signIn(client, grader, 'grader'),
    client: await signIn(client, viewer, 'client'),
  }
  const others = (i: number) => ({ memberId: memberIds[i]!, tagId: tagIds[i]!, batchId: batchIds[i % 2]! })
  return { cookies, rows: rows.map((row, i) => ({ ...row, ...others(i) })) }
}

/** Gives the member only this role, and creates a session. @returns the session's cookie. */
async function signIn(client: PoolClient, memberId: string, role: string): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  const credentialId = uuidv7()
  await client.query(
    `INSERT INTO credentials (id, email, password_hash, password_changed_at, created_at)
     SELECT $1, email, 'none', now(), now() FROM members WHERE id = $2`,
    [credentialId, memberId],
  )
  await client.query(`UPDATE members SET credential_id = $1, roles = ARRAY[$3] WHERE id = $2`, [credentialId, memberId, role])
  await client.query(
    `WITH session AS (
       INSERT INTO sessions (id, token_hash, credential_id, user_agent, network, created_at, last_seen_at, expires_at)
       VALUES ($1, $2, $3, 'The benchmark', '127.0.0.1', now(), now(), now() + interval '12 hours') RETURNING id, created_at)
     INSERT INTO session_authentications (id, session_id, kind, at) SELECT uuidv7(), id, 'password', created_at FROM session`,
    [uuidv7(), hash('sha256', token, 'buffer'), credentialId],
  )
  return `session=${token}`
}

/** An organization with submissions to grade. @property question path of the answers to one question. @property cookie of an admin's session. */
export type Grading = OrganizationRows & { submissionIds: string[]; question: string; cookie: string }

/** Adds this many submissions of one assessment, each with 20 graded answers and unreleased results. */
export async function addGrading(client: PoolClient, organization: OrganizationRows, size: number): Promise<Grading> {
  const { id, memberIds, keyId } = organization
  const assessmentId = organization.assessmentIds[1]
  const graders = memberIds.slice(1, 5)
  await client.query(
    `INSERT INTO invites (id, organization_id, assessment_id, recipient_email, recipient_name, recipient_name_search, status, question_replay_limit,
       answer_record_limit, screen_recording, webcam_monitoring, require_id_capture, face_photo_required, assessment_session,
       assigned_grader_id, created_by_id, created_by_key_id, sent_at, expires_at, accepted_at, started_at, completed_at, created_at, updated_at)
     SELECT uuidv7(at - now()), $1, $2, 'graded' || i || '@example.com', 'Candidate ' || i, 'candidate ' || i, 'completed', 1, 1, false, false, false, false,
       uuidv7(at - now()), CASE WHEN i % 5 > 0 THEN ($3::uuid[])[i % 5] END, ($3::uuid[])[1], $4, at, at + interval '30 days', at, at, at, at, at
     FROM (SELECT i, now() - ($5::int - i) * (interval '60 days' / $5::int) AS at FROM generate_series(1, $5::int) AS i) AS invite`,
    [id, assessmentId, graders, keyId, size],
  )
  await client.query(
    `INSERT INTO submissions (id, organization_id, invite_id, assessment_id, state, question_replay_limit, answer_record_limit, started_at,
       submitted_at, created_at, updated_at)
     SELECT assessment_session, $1, id, assessment_id, 'submitted', 1, 1, started_at, completed_at, started_at, completed_at
     FROM invites WHERE organization_id = $1 ORDER BY id`,
    [id],
  )
  await client.query(
    `INSERT INTO submission_questions (submission_id, number, organization_id, question_id, input_type, response_type, script, audio_url,
       video_url, points, time_limit, opened_at, closed_at)
     SELECT s.id, q.number, $1, q.id, 'text', 'text', q.script, '', '', 10, 0, s.started_at, s.submitted_at
     FROM submissions s, (SELECT id, script, row_number() OVER (ORDER BY "order", id) AS number FROM questions WHERE assessment_id = $2) AS q
     WHERE s.organization_id = $1`,
    [id, assessmentId],
  )
  await client.query(
    `INSERT INTO answer_attempts (id, organization_id, submission_id, question_number, kind, state, text, revision, created_at, completed_at)
     SELECT gen_random_uuid(), $1, submission_id, number, 'text', 'complete', repeat('An answer of some words. ', 20), 1, opened_at, closed_at
     FROM submission_questions WHERE organization_id = $1`,
    [id],
  )
  await client.query(
    `INSERT INTO grades (id, organization_id, submission_id, question_number, grader_id, round, points, comment, created_at, updated_at)
     SELECT gen_random_uuid(), $1, p.submission_id, number, COALESCE(s.grader_id, $2), 1, (hashtext(s.id::text || number) & 15) % 11,
       repeat('Clear and to the point. ', 4), closed_at, closed_at
     FROM submission_questions p JOIN submissions s ON s.id = p.submission_id WHERE p.organization_id = $1`,
    [id, graders[0]],
  )
  const cookie = await signIn(client, memberIds[0]!, 'admin')
  const { rows } = await client.query<{ question: string }>(
    `SELECT question_id || '/' || left(md5(concat_ws(chr(10), script, points)), 12) AS question
     FROM submission_questions WHERE organization_id = $1 AND number = 1 LIMIT 1`,
    [id],
  )
  const question = `by-question/${assessmentId}/${rows[0]!.question}`
  return { ...organization, submissionIds: await sampleIds(client, 'submissions', id), question, cookie }
}

/** Returns 100 to 200 ids of the organization's rows, spread evenly. */
export async function sampleIds(client: PoolClient, table: string, organizationId: string): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    `SELECT id FROM (SELECT id, row_number() OVER (ORDER BY id) AS n, count(*) OVER () AS total FROM ${table} WHERE organization_id = $1) AS r
     WHERE n % greatest(1, total / 100) = 0`,
    [organizationId],
  )
  return rows.map(({ id }) => id)
}

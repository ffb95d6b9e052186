import type { PoolClient } from 'pg'
import type { Organization } from './fill.ts'
import { addQuestions } from './fill-furniture.ts'
import { signIn } from './fill-portal.ts'

/** An organization to grade in, and what its graders' pages are asked with. */
export type Grading = Organization & {
  /** Of the one assessment that all was handed in for. */
  assessmentId: string
  submissionIds: string[]
  cookies: Record<'admin' | 'grader', string>
}

/** Six that every assessment has, and these. */
const FURTHER_QUESTIONS = 14
const SAMPLES = 100

/**
 * Adds what so many candidates have handed in for one assessment, each with 20 answers and their grades. All of it has been released, and is
 * graded anew: so it is in the queue and among the results.
 */
export async function addGrading(client: PoolClient, organization: Organization, size: number): Promise<Grading> {
  const { id, memberIds, keyId } = organization
  const assessmentId = organization.assessmentIds[0]!
  await addQuestions(client, { ...organization, assessmentIds: [assessmentId] }, FURTHER_QUESTIONS)
  const graders = memberIds.slice(1, 5)
  await client.query(
    `INSERT INTO invites (id, organization_id, assessment_id, recipient_email, recipient_name, status, question_replay_limit,
       answer_record_limit, screen_recording, webcam_monitoring, require_id_capture, face_photo_required, assessment_session,
       assigned_grader_id, created_by_id, created_by_key_id, sent_at, expires_at, accepted_at, started_at, completed_at, created_at, updated_at)
     SELECT uuidv7(at - now()), $1, $2, 'graded' || i || '@example.com', 'Candidate ' || i, 'completed', 1, 1, false, false, false, false,
       uuidv7(at - now()), CASE WHEN i % 5 > 0 THEN ($3::uuid[])[i % 5] END, ($3::uuid[])[1], $4, at, at + interval '30 days', at, at, at, at, at
     FROM (SELECT i, now() - ($5::int - i) * (interval '60 days' / $5::int) AS at FROM generate_series(1, $5::int) AS i) AS invite`,
    [id, assessmentId, graders, keyId, size],
  )
  await client.query(
    `INSERT INTO submissions (id, organization_id, invite_id, assessment_id, state, question_replay_limit, answer_record_limit, started_at,
       submitted_at, released_at, created_at, updated_at)
     SELECT assessment_session, $1, id, assessment_id, 'submitted', 1, 1, started_at, completed_at, completed_at, started_at, completed_at
     FROM invites WHERE organization_id = $1 ORDER BY id`,
    [id],
  )
  await client.query(
    `INSERT INTO paper_questions (submission_id, number, organization_id, question_id, input_type, response_type, script, audio_url,
       video_url, points, time_limit, opened_at, closed_at)
     SELECT s.id, q.number, $1, q.id, 'text', 'text', q.script, '', '', 10, 0, s.started_at, s.submitted_at
     FROM submissions s, (SELECT id, script, row_number() OVER (ORDER BY "order", id) AS number FROM questions WHERE assessment_id = $2) AS q
     WHERE s.organization_id = $1`,
    [id, assessmentId],
  )
  await client.query(
    `INSERT INTO takes (id, organization_id, submission_id, question_number, kind, state, text, revision, created_at, completed_at)
     SELECT gen_random_uuid(), $1, submission_id, number, 'text', 'complete', repeat('An answer of some words. ', 20), 1, opened_at, closed_at
     FROM paper_questions WHERE organization_id = $1`,
    [id],
  )
  await client.query(
    `INSERT INTO grades (id, organization_id, submission_id, question_number, grader_id, round, points, comment, created_at, updated_at)
     SELECT gen_random_uuid(), $1, p.submission_id, number, COALESCE(s.grader_id, $2), 1, (hashtext(s.id::text || number) & 15) % 11,
       repeat('Clear and to the point. ', 4), closed_at, closed_at
     FROM paper_questions p JOIN submissions s ON s.id = p.submission_id WHERE p.organization_id = $1`,
    [id, graders[0]],
  )
  // It would update the same rows again and again, in one transaction that can't clean up behind it.
  await client.query('ALTER TABLE releases DISABLE TRIGGER releases_inserted')
  await client.query(
    `INSERT INTO releases (id, organization_id, submission_id, version, released_by_id, points, of_points, comment, message, to_candidate,
       grades, created_at)
     SELECT gen_random_uuid(), $1, submission_id, 1, $2, sum(points), 10 * count(*), '', '', false,
       jsonb_agg(jsonb_build_object('number', question_number, 'points', points, 'ofPoints', 10, 'comment', comment, 'graderId', grader_id)),
       max(created_at)
     FROM grades WHERE organization_id = $1 GROUP BY submission_id`,
    [id, graders[0]],
  )
  await client.query('ALTER TABLE releases ENABLE TRIGGER releases_inserted')
  await client.query(
    `INSERT INTO question_results (organization_id, assessment_id, question_id, results, points, of_points)
     SELECT $1, $2, question_id, count(*), sum(g.points), sum(p.points)
     FROM paper_questions p JOIN grades g ON g.submission_id = p.submission_id AND g.question_number = number
     WHERE p.organization_id = $1 GROUP BY question_id`,
    [id, assessmentId],
  )
  const sample = await client.query<{ id: string; invite_id: string }>(
    `SELECT id, invite_id FROM (SELECT id, invite_id, row_number() OVER (ORDER BY id) AS n FROM submissions WHERE organization_id = $1) AS numbered
     WHERE n % greatest(1, $2::int / ${SAMPLES}) = 0 LIMIT ${SAMPLES}`,
    [id, size],
  )
  console.error(`  ${size} submissions`)
  const cookies = {
    admin: await signIn(client, memberIds[0]!, 'admin'),
    grader: await signIn(client, graders[0]!, 'grader'),
  }
  const [submissionIds, inviteIds] = [sample.rows.map((row) => row.id), sample.rows.map((row) => row.invite_id)]
  return { ...organization, size, inviteIds, assessmentId, submissionIds, cookies }
}

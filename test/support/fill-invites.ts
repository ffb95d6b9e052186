import type { ClientBase } from 'pg'

const BATCH = 100_000

/**
 * Invites are spread evenly over assessments, states, and the last 140 days, the newest last, all at different times. Open invites expire in
 * two days or more, so none expires during the run. Ids are in the order of creation, like the service's.
 *
 * $1 organization, $2 key, $3 assessments, $4 members, $5 first number, $6 last number, $7 total number.
 */
const INVITES = `
  INSERT INTO invites (id, organization_id, assessment_id, recipient_email, recipient_name, recipient_name_search, status, question_replay_limit,
    answer_record_limit, screen_recording, webcam_monitoring, require_id_capture, face_photo_required, custom_message,
    assessment_session, assigned_grader_id, created_by_id, created_by_key_id, sent_at, expires_at, accepted_at, started_at,
    completed_at, revoked_at, created_at, updated_at)
  SELECT uuidv7(created_at - now()), $1, ($3::uuid[])[1 + i % cardinality($3::uuid[])], 'candidate' || i || '@example.com',
    'Candidate ' || i, 'candidate ' || i, status, 1 + i % 3, 1 + i % 2, true, true, i % 2 = 0, i % 2 = 0, 'We look forward to hearing you.',
    CASE WHEN status IN ('started', 'completed') THEN gen_random_uuid() END,
    CASE WHEN i % 4 = 0 THEN ($4::uuid[])[1 + i / 4 % cardinality($4::uuid[])] END,
    ($4::uuid[])[1], $2, created_at + interval '1 second',
    CASE WHEN status IN ('pending', 'accepted') THEN now() + interval '2 days' + i * (interval '28 days' / $7::int)
      ELSE created_at + interval '30 days' END,
    CASE WHEN status IN ('accepted', 'started', 'completed') THEN created_at + interval '1 hour' END,
    CASE WHEN status IN ('started', 'completed') THEN created_at + interval '2 hours' END,
    CASE WHEN status = 'completed' THEN created_at + interval '3 hours' END,
    CASE WHEN status = 'revoked' THEN created_at + interval '3 hours' END,
    created_at, created_at + interval '4 hours'
  FROM (
    SELECT i,
      now() - interval '1 hour' - ($7::int - i) * (interval '140 days' / $7::int) AS created_at,
      ('{pending,accepted,started,completed,expired,revoked}'::invite_status[])[1 + i / cardinality($3::uuid[]) % 6] AS status
    FROM generate_series($5::int, $6::int) AS i
  ) AS invite
  RETURNING id`

/** Adds two tags to every third invite. */
const TAGS = `
  INSERT INTO invite_tags (organization_id, invite_id, tag_id, position)
  SELECT $1, invite, ($3::uuid[])[1 + (i / 3 + 7 * position) % cardinality($3::uuid[])], position
  FROM unnest($2::uuid[]) WITH ORDINALITY AS i (invite, i), generate_series(0, 1) AS position
  WHERE i % 3 = 0`

/** Adds submissions of started invites. Otherwise the service would create them while it is measured. */
const SUBMISSIONS = `
  INSERT INTO submissions (id, organization_id, invite_id, assessment_id, state, question_replay_limit, answer_record_limit, started_at,
    created_at, updated_at)
  SELECT assessment_session, organization_id, id, assessment_id, 'in_progress', question_replay_limit, answer_record_limit, started_at,
    started_at, started_at
  FROM invites WHERE organization_id = $1 AND id = ANY ($2) AND status = 'started'`

type Owner = { id: string; keyId: string; assessmentIds: string[]; memberIds: string[]; tagIds: string[] }

/** Adds this many invites to the organization with ordinary INSERTs, so that triggers update their counters. */
export async function addInvites(client: ClientBase, organization: Owner, size: number): Promise<void> {
  const { id, keyId, assessmentIds, memberIds, tagIds } = organization
  for (let first = 1; first <= size; first += BATCH) {
    const last = Math.min(size, first + BATCH - 1)
    const invites = await client.query<{ id: string }>(INVITES, [id, keyId, assessmentIds, memberIds, first, last, size])
    const inviteIds = invites.rows.map((row) => row.id)
    await client.query(TAGS, [id, inviteIds, tagIds])
    await client.query(SUBMISSIONS, [id, inviteIds])
  }
}

import { hash, randomBytes } from 'node:crypto'
import type { PoolClient } from 'pg'
import { v7 as uuidv7 } from 'uuid'
import { MAX_BATCH_ROWS } from '../../src/domain/limits.ts'
import { addMembers, addQuestions, addTags, type Furniture, newIds } from './fill-furniture.ts'

/** What the portal's pages are asked with: a cookie for each role, and ids for what stands in their addresses. */
export type Portal = { cookies: Record<'admin' | 'grader' | 'client', string>; rows: Record<string, string>[] }

const MEMBERS = 180
const TAGS = 450
const QUESTIONS = 14
/** More, of the first assessment: a large page of questions. */
const QUESTIONS_OF_FIRST = 80
const BATCHES = 2
const SAMPLES = 20

/**
 * Makes of an organization with invites one that its members have worked in for long: with many more members, tags and questions, an audit
 * log of a tenth as many entries as there are invites, and lists of candidates.
 */
export async function addPortal(client: PoolClient, organization: Furniture, size: number): Promise<Portal> {
  const { id, memberIds, tagIds, assessmentIds } = organization
  const [admin, grader, viewer] = memberIds as [string, string, string]
  await addMembers(client, { id, memberIds: newIds(MEMBERS) })
  await addTags(client, { id, memberIds, tagIds: newIds(TAGS) }, 'More')
  await addQuestions(client, organization, QUESTIONS)
  await addQuestions(client, { ...organization, assessmentIds: assessmentIds.slice(0, 1) }, QUESTIONS_OF_FIRST)
  await client.query(
    `INSERT INTO audit_entries (id, organization_id, actor_kind, actor_id, action, target_kind, target_id, details, at)
     SELECT uuidv7(at - now()), $1, 'member', ($2::uuid[])[1 + i % cardinality($2::uuid[])],
       (ARRAY['invited', 'changed_tag', 'signed_in', 'updated_assessment'])[1 + i % 4], 'tag', ($3::uuid[])[1 + i % cardinality($3::uuid[])],
       '{"name": "Something"}', at
     FROM (SELECT i, now() - i * (interval '300 days' / $4::int) AS at FROM generate_series(1, $4::int) AS i) AS entry`,
    [id, memberIds, tagIds, Math.ceil(size / 10)],
  )
  const batchIds = newIds(BATCHES)
  for (const batchId of batchIds) await addBatch(client, { id, batchId, assessmentId: assessmentIds[0]!, memberId: admin, size })
  const cookies = {
    admin: await signIn(client, admin, 'admin'),
    grader: await signIn(client, grader, 'grader'),
    client: await signIn(client, viewer, 'client'),
  }
  return { cookies, rows: await sampleRows(client, organization, { batchIds, grader, viewer }) }
}

type NewBatch = { id: string; batchId: string; assessmentId: string; memberId: string; size: number }

async function addBatch(client: PoolClient, { id, batchId, assessmentId, memberId, size }: NewBatch): Promise<void> {
  await client.query(
    `INSERT INTO invite_batches (id, organization_id, assessment_id, created_by_id, terms, created_at, started_at, finished_at)
     VALUES ($1, $2, $3, $4, '{}', now(), now(), now())`,
    [batchId, id, assessmentId, memberId],
  )
  await client.query(
    `INSERT INTO invite_batch_rows (batch_id, number, organization_id, state, email, name, terms, invite_id)
     SELECT $1, row_number() OVER (), $2, 'invited', recipient_email, '', '{}', id
     FROM (SELECT * FROM invites WHERE organization_id = $2 LIMIT $3) AS invited`,
    [batchId, id, Math.min(MAX_BATCH_ROWS, Math.ceil(size / 100))],
  )
}

/** Lets the member have that role alone. @returns the cookie of a session. */
export async function signIn(client: PoolClient, memberId: string, role: string): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  const credentialId = uuidv7()
  await client.query(
    `INSERT INTO credentials (id, email, password_hash, password_changed_at, created_at)
     SELECT $1, email, 'none', now(), now() FROM members WHERE id = $2`,
    [credentialId, memberId],
  )
  await client.query(`UPDATE members SET credential_id = $1, roles = ARRAY[$3] WHERE id = $2`, [credentialId, memberId, role])
  await client.query(
    `INSERT INTO sessions (id, token_hash, credential_id, user_agent, network, created_at, last_seen_at, expires_at)
     VALUES ($1, $2, $3, 'The benchmark', '127.0.0.1', now(), now(), now() + interval '12 hours')`,
    [uuidv7(), hash('sha256', token, 'buffer'), credentialId],
  )
  return `session=${token}`
}

type Chosen = { batchIds: string[]; grader: string; viewer: string }

async function sampleRows(client: PoolClient, organization: Furniture, { batchIds, grader, viewer }: Chosen) {
  const { id, memberIds, tagIds } = organization
  const sample = async (text: string, value: string) => (await client.query<Record<string, string>>(text, [id, value])).rows
  const questions = await sample(
    `SELECT id AS "questionId", assessment_id AS "assessmentId" FROM questions WHERE organization_id = $1 AND response_type <> $2
     ORDER BY id LIMIT ${SAMPLES}`,
    'none',
  )
  const assigned = await sample(
    `SELECT id AS "assignedInviteId" FROM invites WHERE organization_id = $1 AND assigned_grader_id = $2 LIMIT ${SAMPLES}`,
    grader,
  )
  const ofClient = await sample(
    `SELECT invites.id AS "clientInviteId", assessment_id AS "clientAssessmentId"
     FROM invites JOIN assessment_clients USING (organization_id, assessment_id) WHERE organization_id = $1 AND member_id = $2 LIMIT ${SAMPLES}`,
    viewer,
  )
  return Array.from({ length: SAMPLES }, (_, i) => ({
    ...questions[i % questions.length],
    ...assigned[i % assigned.length],
    ...ofClient[i % ofClient.length],
    memberId: memberIds[i % memberIds.length]!,
    tagId: tagIds[i % tagIds.length]!,
    batchId: batchIds[i % batchIds.length]!,
  }))
}

import type { PoolClient } from 'pg'
import { v7 as uuidv7 } from 'uuid'

/** What an organization has besides invites: as much of everything, however many invites it has. */
export type Furniture = { id: string; memberIds: string[]; tagIds: string[]; assessmentIds: string[] }

const MEMBERS = 20
const TAGS = 50
const ASSESSMENTS = 50
const QUESTIONS = 6
const CATEGORIES = 10
const INSTRUCTIONS = 5
const LANGUAGES = ['en', 'de', 'es', 'fr', 'pt']

/** Adds the languages, which all organizations share. @returns their ids. */
export async function addLanguages(client: PoolClient): Promise<string[]> {
  const ids = newIds(LANGUAGES.length)
  await client.query(`INSERT INTO languages (id, code, name) SELECT * FROM unnest($1::uuid[], $2::text[], $2::text[])`, [
    ids,
    LANGUAGES,
  ])
  return ids
}

/** Adds an organization with members, tags and assessments. */
export async function addFurniture(client: PoolClient, name: string, languageIds: string[]): Promise<Furniture> {
  const furniture = { id: uuidv7(), memberIds: newIds(MEMBERS), tagIds: newIds(TAGS), assessmentIds: newIds(ASSESSMENTS) }
  const { id, memberIds, tagIds } = furniture
  await client.query(
    `INSERT INTO organizations (id, name, tier, created_at, updated_at) VALUES ($1, $2, 'enterprise', now(), now())`,
    [id, `The ${name} organization`],
  )
  await addMembers(client, furniture)
  await client.query(
    `INSERT INTO member_grading_languages (organization_id, member_id, language_id, position)
     SELECT $1, member, ($3::uuid[])[1 + n], n FROM unnest($2::uuid[]) AS member, generate_series(0, 1) AS n`,
    [id, memberIds, languageIds],
  )
  await addTags(client, furniture, 'Tag')
  await client.query(
    `INSERT INTO member_tags (organization_id, member_id, tag_id, position)
     SELECT $1, ($2::uuid[])[i], ($3::uuid[])[i + n], n FROM generate_series(1, ${MEMBERS}) AS i, generate_series(0, 1) AS n`,
    [id, memberIds, tagIds],
  )
  await addAssessments(client, furniture, languageIds)
  return furniture
}

export async function addMembers(client: PoolClient, { id, memberIds }: Pick<Furniture, 'id' | 'memberIds'>): Promise<void> {
  // The ids of accounts and memberships may be the same: they are of different tables.
  await client.query(
    `INSERT INTO users (id, first_name, last_name, email, created_at, updated_at)
     SELECT ($1::uuid[])[i], 'First ' || i, 'Last ' || i, 'member' || i || '.' || ($1::uuid[])[1] || '@example.com', now(), now()
     FROM generate_series(1, cardinality($1::uuid[])) AS i`,
    [memberIds],
  )
  await client.query(
    `INSERT INTO members (id, organization_id, user_id, email, roles, department, joined_at, created_at, updated_at)
     SELECT u.id, $1, u.id, u.email, '{admin,grader,client}', 'Recruiting', now() - n * interval '1 hour', now() - n * interval '1 hour', now()
     FROM unnest($2::uuid[]) WITH ORDINALITY AS member (id, n) JOIN users u USING (id)`,
    [id, memberIds],
  )
}

/** @param name is followed by a number. */
export async function addTags(
  client: PoolClient,
  { id, memberIds, tagIds }: Pick<Furniture, 'id' | 'memberIds' | 'tagIds'>,
  name: string,
): Promise<void> {
  await client.query(
    `INSERT INTO tags (id, organization_id, name, color, description, created_by_id, created_at, updated_at)
     SELECT ($2::uuid[])[i], $1, $4 || ' ' || i, '#2563EB', 'What tag number ' || i || ' stands for',
       ($3::uuid[])[1 + i % cardinality($3::uuid[])], now() - i * interval '1 hour', now() - i * interval '1 minute'
     FROM generate_series(1, cardinality($2::uuid[])) AS i`,
    [id, tagIds, memberIds, name],
  )
}

/** Adds so many to each assessment. */
export async function addQuestions(client: PoolClient, { id, assessmentIds }: Furniture, count: number): Promise<void> {
  await client.query(
    `INSERT INTO questions (id, organization_id, assessment_id, "order", input_type, script, response_type, points, created_at, updated_at)
     SELECT gen_random_uuid(), $1, assessment, n, 'audio', 'What would you say to question ' || n || '?', 'audio', 10, now(), now()
     FROM unnest($2::uuid[]) AS assessment, generate_series(1, $3) AS n`,
    [id, assessmentIds, count],
  )
}

async function addAssessments(client: PoolClient, furniture: Furniture, languageIds: string[]): Promise<void> {
  const { id, memberIds, tagIds, assessmentIds } = furniture
  const categoryIds = newIds(CATEGORIES)
  const instructionIds = newIds(INSTRUCTIONS)
  await client.query(
    `INSERT INTO categories (id, organization_id, name)
     SELECT category, $1, 'Category ' || n FROM unnest($2::uuid[]) WITH ORDINALITY AS c (category, n)`,
    [id, categoryIds],
  )
  await client.query(
    `INSERT INTO instructions (id, organization_id, title, body)
     SELECT unnest($2::uuid[]), $1, 'Before you begin', 'Find a quiet room, and speak clearly.'`,
    [id, instructionIds],
  )
  await client.query(
    `INSERT INTO assessments (id, organization_id, name, default_question_format, default_answer_format, time_limit, skill_types,
       instruction_id, created_by_id, created_at, updated_at)
     SELECT ($2::uuid[])[i], $1, 'Assessment No' || i, 'audio', 'audio', 60 * i + 30, '{listening,speaking}',
       ($3::uuid[])[1 + i % ${INSTRUCTIONS}], ($4::uuid[])[1 + i % ${MEMBERS}], now() - i * interval '1 day', now() - i * interval '1 hour'
     FROM generate_series(1, ${ASSESSMENTS}) AS i`,
    [id, assessmentIds, instructionIds, memberIds],
  )
  await addQuestions(client, furniture, QUESTIONS)
  const twoEach = [
    ['assessment_languages', 'language_id', languageIds],
    ['assessment_categories', 'category_id', categoryIds],
    ['assessment_tags', 'tag_id', tagIds],
    ['assessment_clients', 'member_id', memberIds],
  ] as const
  for (const [table, column, ids] of twoEach)
    await client.query(
      `INSERT INTO ${table} (organization_id, assessment_id, ${column}, position)
       SELECT $1, ($2::uuid[])[i], ($3::uuid[])[1 + (i + n) % ${ids.length}], n
       FROM generate_series(1, ${ASSESSMENTS}) AS i, generate_series(0, 1) AS n`,
      [id, assessmentIds, ids],
    )
}

export const newIds = (count: number): string[] => Array.from({ length: count }, () => uuidv7())

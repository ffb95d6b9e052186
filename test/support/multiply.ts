import type { SampleOrganization } from './sample-organization.ts'
import type { Service } from './service.ts'

/** Rows per statement. A statement with more rows exceeds the statement timeout. */
const AT_ONCE = 1_000

/**
 * Copies the organization's only row of each kind this many times, and relates each copy to three rows of the other kinds. Names start like the
 * original's.
 */
export async function multiply({ db }: Service, of: SampleOrganization, times: number): Promise<void> {
  const { id: organizationId, member, tag, assessment, question, invite, email } = of
  /** @param changes SQL of a JSON object with the columns, other than the id, that differ from the original in copy number n. */
  const copy = async (table: string, { id }: { id: string }, changes = "'{}'") => {
    for (let first = 1; first <= times; first += AT_ONCE)
      await db.$executeRawUnsafe(
        `INSERT INTO ${table} SELECT (jsonb_populate_record(row, jsonb_build_object('id', gen_random_uuid()) || ${changes})).*
         FROM ${table} AS row, generate_series($2::int, $3::int) AS n WHERE row.id = $1::uuid`,
        id,
        first,
        Math.min(times, first + AT_ONCE - 1),
      )
  }
  await copy('users', { id: member.userId }, `jsonb_build_object('email', n || '.' || email)`)
  await db.$executeRaw`
    INSERT INTO members SELECT (jsonb_populate_record(m, jsonb_build_object('id', u.id, 'user_id', u.id, 'email', u.email))).*
    FROM members m, users u WHERE m.id = ${member.id}::uuid AND u.email LIKE '%.' || m.email`
  await copy('tags', tag, `jsonb_build_object('name', name || n, 'name_key', name_key || n, 'name_search', name_search || n)`)
  await copy(
    'assessments',
    assessment,
    `jsonb_build_object('name', name || n, 'name_key', name_key || n, 'name_search', name_search || n, 'question_count', 0)`,
  )
  await copy('questions', question)
  await copy('invites', invite, `jsonb_build_object('recipient_email', n || recipient_email)`)
  await copy('invite_emails', email)

  /** Relates three rows of `to` to each row of `from`. */
  const relate = (joins: string, from: string, to: string, column: string) =>
    db.$executeRawUnsafe(
      `WITH one AS (SELECT id, row_number() OVER () AS n FROM ${from} WHERE organization_id = $1::uuid),
         other AS (SELECT id, row_number() OVER () AS n FROM ${to} WHERE organization_id = $1::uuid)
       INSERT INTO ${joins} (organization_id, ${from.slice(0, -1)}_id, ${column}, position)
       SELECT $1::uuid, one.id, other.id, k FROM one, generate_series(1, 3) AS k, other
       WHERE other.n = (one.n + k) % $2::int + 1 ON CONFLICT DO NOTHING`,
      organizationId,
      times,
    )
  await relate('invite_tags', 'invites', 'tags', 'tag_id')
  await relate('assessment_tags', 'assessments', 'tags', 'tag_id')
  await relate('assessment_clients', 'assessments', 'members', 'member_id')
  await relate('member_tags', 'members', 'tags', 'tag_id')
  await db.$executeRaw`ANALYZE`
}

import type { Context } from '../context.ts'

/** Copies the questions of one assessment to another, which has none; thousands of them as well. */
export async function copyQuestions({ db, deps, organization }: Context, from: string, to: string): Promise<void> {
  const where = { organizationId: organization.id, assessmentId: from }
  const originals = await db.question.findMany({ where, select: { id: true }, orderBy: [{ order: 'asc' }, { id: 'asc' }] })
  const ids = originals.map(({ id }) => id)
  const copies = ids.map(() => deps.newId())
  const now = deps.clock()
  await db.$executeRaw`
    INSERT INTO questions (id, organization_id, assessment_id, "order", input_type, script, audio_url, video_url, response_type, points,
      time_limit, source_language, target_language, created_at, updated_at)
    SELECT pair.copy, organization_id, ${to}::uuid, "order", input_type, script, audio_url, video_url, response_type, points,
      time_limit, source_language, target_language, ${now}::timestamptz, ${now}::timestamptz
    FROM unnest(${ids}::uuid[], ${copies}::uuid[]) AS pair (original, copy)
    JOIN questions ON questions.organization_id = ${organization.id}::uuid AND questions.id = pair.original`
}

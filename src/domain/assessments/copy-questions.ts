import { sql } from '../../db/builder.ts'
import { copyColumns, insertFromSelect, timestamp, uuid } from '../../db/writes.ts'
import type { Context } from '../context.ts'
import { copiedFields } from '../fields/field-policy.ts'
import { QUESTION_FIELDS } from './question-fields.ts'
import { sealVersions } from './question-versions.ts'

/** Copies the questions of one assessment to another, which has none; thousands of them as well. What they are of a kind, they share. */
export async function copyQuestions(ctx: Context, from: string, to: string): Promise<void> {
  const { db, deps } = ctx
  const originals = await ctx.db
    .selectFrom('questions')
    .where('assessmentId', '=', from)
    .orderBy('order')
    .orderBy('id')
    .select('id')
    .execute()
  const ids = originals.map(({ id }) => id)
  const copies = ids.map(() => deps.newId())
  const pairs = sql<{ original: string; copy: string }>`unnest(${ids}::uuid[], ${copies}::uuid[])`
  const questions = ctx.db
    .selectFrom('questions')
    .innerJoin(pairs.as<'pairs'>(sql`pairs (original, copy)`), 'pairs.original', 'questions.id')
  const now = deps.clock()
  const insertion = insertFromSelect(db, 'questions', questions, (eb) => ({
    ...copyColumns(eb, ...copiedFields(QUESTION_FIELDS)),
    id: eb.ref('pairs.copy'),
    assessmentId: uuid(to),
    createdAt: timestamp(now),
    updatedAt: timestamp(now),
  }))
  await insertion.execute()
  await sealVersions(ctx, ctx.db.selectFrom('questions').where('questions.assessmentId', '=', to).select('questions.versionId'))
}

import { sql } from '../../db/builder.ts'
import type { Expression } from '../../db/queries.ts'
import { copyColumns, insertFromSelect, timestamp, uuid } from '../../db/writes.ts'
import type { Context } from '../context.ts'
import { copiedFields } from '../fields/field-policy.ts'
import { QUESTION_FIELDS } from './question-fields.ts'
import { sealVersions } from './question-versions.ts'
import { readStructure } from './structure.ts'

/** Copies all sections, pools, and questions to an empty assessment. The copies share the versions of their definitions. */
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
  const copyIds = await copyStructure(ctx, from, to)
  const pairsOfStructure = sql<{
    original: string
    copy: string
  }>`unnest(${[...copyIds.keys()]}::uuid[], ${[...copyIds.values()]}::uuid[])`
  const copyOf = (original: Expression<string | null>) =>
    sql<string | null>`(select copy from ${pairsOfStructure} as places (original, copy) where places.original = ${original})`
  const now = deps.clock()
  const insertion = insertFromSelect(db, 'questions', questions, (eb) => ({
    ...copyColumns(eb, ...copiedFields(QUESTION_FIELDS)),
    id: eb.ref('pairs.copy'),
    assessmentId: uuid(to),
    sectionId: copyOf(eb.ref('questions.sectionId')),
    poolId: copyOf(eb.ref('questions.poolId')),
    createdAt: timestamp(now),
    updatedAt: timestamp(now),
  }))
  await insertion.execute()
  await sealVersions(ctx, ctx.db.selectFrom('questions').where('questions.assessmentId', '=', to).select('questions.versionId'))
}

/** @returns the id of each copy by that of its original. */
async function copyStructure(ctx: Context, from: string, to: string): Promise<Map<string, string>> {
  const { db, deps } = ctx
  const { sections, pools } = await readStructure(ctx, from)
  const ids = new Map([...sections, ...pools].map(({ id }) => [id, deps.newId()]))
  const copy = <Row extends { id: string }>(rows: Row[]) =>
    rows.map((row) => ({ ...row, id: ids.get(row.id)!, assessmentId: to }))
  await db.assessmentSection.createMany({ data: copy(sections) })
  await db.assessmentPool.createMany({ data: copy(pools) })
  return ids
}

import { sql } from '../../../db/builder.ts'
import type { Expressions } from '../../../db/queries.ts'
import { DEFAULT, insertFromSelect, uuid } from '../../../db/writes.ts'
import { type DrawableQuestion, type DrawnQuestion, drawQuestions } from '../../assessments/draw-questions.ts'
import type { Context } from '../../context.ts'

type PaperRef = { submissionId: string; assessmentId: string }
type Inside = Pick<Context, 'db' | 'organization' | 'deps' | 'mode'>

/** Questions of an assessment in the author's order, with what decides a paper. */
export const readDrawable = ({ db }: Pick<Inside, 'db'>, assessmentId: string): Promise<DrawableQuestion[]> =>
  db
    .selectFrom('questions')
    .where('questions.assessmentId', '=', assessmentId)
    .leftJoin(db.table('assessmentSections'), 'assessmentSections.id', 'questions.sectionId')
    .leftJoin(db.table('assessmentPools'), 'assessmentPools.id', 'questions.poolId')
    .select(['questions.id', 'questions.sectionId', 'questions.poolId'])
    .select(['assessmentPools.draw', 'assessmentSections.shuffle'])
    .orderBy((eb) => eb.fn.coalesce('assessmentSections.order', sql.lit(0)))
    .orderBy('questions.order')
    .orderBy('questions.id')
    .execute()

/** Draws a paper. In a retake, questions of a pool that the candidate has not seen come first. */
export async function drawPaper(ctx: Inside, paper: PaperRef): Promise<DrawnQuestion[]> {
  const questions = await readDrawable(ctx, paper.assessmentId)
  const hasPools = questions.some(({ poolId }) => poolId !== null)
  return drawQuestions(questions, ctx.deps.random, hasPools ? await findAskedQuestionIds(ctx, paper) : undefined)
}

/** Questions that the candidate, recognized by the address, has opened in earlier submissions to the same assessment. */
async function findAskedQuestionIds({ db }: Inside, { submissionId, assessmentId }: PaperRef): Promise<Set<string>> {
  const addressOf = (eb: Expressions<'invites'>) => sql<string>`address_key(${eb.ref('invites.recipientEmail')})`
  const address = db
    .selectFrom('submissions')
    .where('submissions.id', '=', submissionId)
    .innerJoin(db.table('invites'), 'invites.id', 'submissions.inviteId')
    .select((eb) => addressOf(eb as unknown as Expressions<'invites'>).as('address'))
  const earlier = db
    .selectFrom('invites')
    .where('invites.assessmentId', '=', assessmentId)
    .where((eb) => eb(addressOf(eb), '=', address))
    .innerJoin(db.table('submissions'), 'submissions.inviteId', 'invites.id')
    .where('submissions.id', '<>', submissionId)
    .innerJoin(db.table('submissionQuestions'), 'submissionQuestions.submissionId', 'submissions.id')
    .where('submissionQuestions.openedAt', 'is not', null)
  const askedQuestions = await earlier.select('submissionQuestions.questionId').distinct().execute()
  return new Set(askedQuestions.map(({ questionId }) => questionId))
}

/** Copies the sections of a paper whose questions are there. */
export async function copySections(ctx: Inside, submissionId: string, drawn: readonly DrawnQuestion[]): Promise<void> {
  const first = [...Map.groupBy(drawn, ({ sectionNumber }) => sectionNumber)].flatMap(([number, [question]]) =>
    number === null ? [] : [{ number, id: question!.id }],
  )
  const columns = [sql`${first.map(({ id }) => id)}::uuid[]`, sql`${first.map(({ number }) => number)}::integer[]`]
  const places = sql<{ question: string; place: number }>`unnest(${sql.join(columns)})`
  const sections = ctx.db
    .selectFrom('assessmentSections')
    .innerJoin(ctx.db.table('questions'), 'questions.sectionId', 'assessmentSections.id')
    .innerJoin(places.as<'drawn'>(sql`drawn (question, place)`), 'drawn.question', 'questions.id')
  const copy = insertFromSelect(ctx.db, 'submissionSections', sections, (eb) => ({
    organizationId: eb.ref('assessmentSections.organizationId'),
    submissionId: uuid(submissionId),
    number: eb.ref('drawn.place'),
    name: eb.ref('assessmentSections.name'),
    intro: eb.ref('assessmentSections.intro'),
    timeLimit: eb.ref('assessmentSections.timeLimit'),
    navigation: eb.ref('assessmentSections.navigation'),
    openedAt: DEFAULT,
    closesAt: DEFAULT,
    currentNumber: DEFAULT,
  }))
  await copy.execute()
}

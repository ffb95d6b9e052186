import { sql } from '../../../db/builder.ts'
import type { SqlBool } from '../../../db/queries.ts'
import { runExport, type WriteBatch } from '../../audit/run-export.ts'
import { authorize } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { isUuid } from '../../text/uuid.ts'
import { DAY_MS } from '../../time/days.ts'
import { discriminationOf, MIN_RESULTS, meanOf, medianOf, reliabilityOf, type ScoredResult, thirdsOf } from './item-analysis.ts'
import { currentQuestions, type OrderedQuestion, sortQuestions } from './ordered-questions.ts'

/** The newest released results that statistics use: enough for each figure, and the cost of a page stays constant. */
export const MAX_SAMPLE = 2_000
/** The most frequent answers to a question that are listed. */
const MAX_ANSWERS = 12

/** Likely faults of a question. `check_key`: better candidates do worse. */
export type QuestionMark = 'check_key' | 'too_easy' | 'too_hard' | 'separates_little'

/** A line of answers, such as a chosen option. @property best share of the best third with it. @property lowest the same of the lowest third. */
export type AnswerLine = { text: string; best: number; lowest: number }

export type QuestionStatistics = OrderedQuestion<{
  number: number
  script: string
  scriptFormat: string
  results: number
  /** Mean share of the points, from 0 to 1. Null: too few results. */
  share: number | null
  /** From -1 to 1; null also if all results are equal. */
  discrimination: number | null
  /** Median, in seconds; null if it is unknown. */
  seconds: number | null
  marks: QuestionMark[]
  /** Empty for questions that people grade, and without enough results. */
  answers: AnswerLine[]
}>

export type AssessmentStatistics = {
  /** Results that the figures are made of. */
  results: number
  /** True if there are older results, which are left out. */
  isSample: boolean
  /** Cronbach's alpha; null: too few results. */
  reliability: number | null
  questions: QuestionStatistics[]
}

/**
 * Numbers of candidates invited in a period, by step.
 *
 * @property stops the last questions of those who started and did not submit, by their places in the assessment.
 */
export type Funnel = {
  invited: number
  opened: number
  started: number
  completed: number
  released: number
  stops: { number: number; candidates: number }[]
}

/** Weeks begin on Monday, in UTC. */
type WeekFigures = { week: string; invited: number; completed: number }
/** @property percent mean of the released results; null: none. */
type TagFigures = { name: string; invited: number; completed: number; percent: number | null }

/** @throws DomainError not_permitted; assessment_not_found. */
export async function findAssessment(ctx: Context, assessmentId: string): Promise<string> {
  authorize(ctx, 'read')
  const where = { organizationId: ctx.organization.id, id: assessmentId }
  const found = isUuid(assessmentId) && (await ctx.db.assessment.findFirst({ where, select: { id: true } }))
  if (!found) throw new DomainError('assessment_not_found')
  return found.id
}

/** Figures of the newest released results. @throws DomainError not_permitted; assessment_not_found. */
export async function readStatistics(ctx: Context, assessmentId: string): Promise<AssessmentStatistics> {
  const id = await findAssessment(ctx, assessmentId)
  const points = await readPoints(ctx, id)
  const bySubmission = Map.groupBy(points, ({ submissionId }) => submissionId)
  const results = [...bySubmission].map(
    ([submissionId, pointsOfSubmission]): ScoredResult => ({
      id: submissionId,
      shares: new Map(pointsOfSubmission.map(({ questionId, share }) => [questionId, share])),
    }),
  )
  const hasEnough = results.length >= MIN_RESULTS
  const current = new Map((await currentQuestions(ctx.db, id).execute()).map((question) => [question.id, question]))
  const answers = hasEnough ? await countAnswers(ctx, results) : new Map<string, AnswerLine[]>()
  const questions = [...Map.groupBy(points, ({ questionId }) => questionId)].map(([questionId, pointsOfQuestion]) => {
    const { script, scriptFormat, number } = pointsOfQuestion[0]!
    const currentQuestion = current.get(questionId)
    const share = pointsOfQuestion.length < MIN_RESULTS ? null : meanOf(pointsOfQuestion.map((scored) => scored.share))
    const discrimination = share === null ? null : discriminationOf(results, questionId)
    return {
      ...{ id: questionId, number, place: currentQuestion?.place ?? null },
      ...{ script: currentQuestion?.script ?? script, scriptFormat: currentQuestion?.scriptFormat ?? scriptFormat },
      ...{ results: pointsOfQuestion.length, share, discrimination, marks: marksOf(share, discrimination) },
      seconds: medianOf(pointsOfQuestion.flatMap(({ seconds }) => seconds ?? [])),
      answers: answers.get(questionId) ?? [],
    }
  })
  return {
    results: results.length,
    isSample: results.length === MAX_SAMPLE,
    reliability: reliabilityOf(results, await findDrawnIds(ctx, id)),
    questions: sortQuestions(questions),
  }
}

/** Exports the figures of the questions. @throws DomainError not_permitted; assessment_not_found; too_many_exports. */
export async function exportStatistics(ctx: Context, assessmentId: string, write: WriteBatch<QuestionStatistics>): Promise<void> {
  authorize(ctx, 'export')
  const { questions } = await readStatistics(ctx, assessmentId)
  await runExport(ctx, { action: 'exported_statistics', filter: { assessmentId } }, async () => questions, write)
}

function marksOf(share: number | null, discrimination: number | null): QuestionMark[] {
  if (share === null) return []
  const marks: QuestionMark[] = []
  if (discrimination !== null && discrimination < 0) marks.push('check_key')
  else if (discrimination !== null && discrimination < 0.1) marks.push('separates_little')
  if (share > 0.95) marks.push('too_easy')
  if (share < 0.1) marks.push('too_hard')
  return marks
}

/** Questions of pools that give each candidate only some of them. */
async function findDrawnIds({ db, organization }: Context, assessmentId: string): Promise<Set<string>> {
  const where = { organizationId: organization.id, assessmentId }
  const pools = await db.assessmentPool.findMany({ where, select: { draw: true, questions: { select: { id: true } } } })
  return new Set(pools.flatMap(({ draw, questions }) => (draw < questions.length ? questions.map(({ id }) => id) : [])))
}

/** A question of a result. @property share of the points, from 0 to 1. @property seconds null in a section with free navigation. */
type GivenPoints = {
  submissionId: string
  questionId: string
  number: number
  script: string
  scriptFormat: string
  share: number
  seconds: number | null
}

/** Questions with points, of the newest release of each of the newest results. */
async function readPoints(ctx: Context, assessmentId: string): Promise<GivenPoints[]> {
  const newest = ctx.db
    .selectFrom('submissions')
    .where('submissions.assessmentId', '=', assessmentId)
    .where('submissions.releasedAt', 'is not', null)
    .orderBy('submissions.releasedAt', 'desc')
    .orderBy('submissions.id', 'desc')
    .limit(MAX_SAMPLE)
    .select('submissions.id')
  const released = ctx.db
    .selectFrom(newest.as('newest'))
    .innerJoin(ctx.db.table('releases'), 'releases.submissionId', 'newest.id')
    .distinctOn('newest.id')
    .orderBy('newest.id')
    .orderBy('releases.version', 'desc')
    .select(['newest.id', 'releases.grades'])
  const releasedGrades = sql<{ grade: unknown }>`jsonb_array_elements(${sql.ref('released.grades')})`
  const numberIn = (field: 'number' | 'points' | 'ofPoints') =>
    sql<number>`(${sql.ref('given.grade')}->>${sql.lit(field)})::float8`
  return ctx.db
    .selectFrom(released.as('released'))
    .innerJoin(releasedGrades.as<'given'>(sql`given (grade)`), (join) => join.onTrue())
    .innerJoin(ctx.db.table('submissionQuestions'), (join) =>
      join
        .onRef('submissionQuestions.submissionId', '=', 'released.id')
        .on('submissionQuestions.number', '=', numberIn('number')),
    )
    .leftJoin(ctx.db.table('submissionSections'), (join) =>
      join
        .onRef('submissionSections.submissionId', '=', 'submissionQuestions.submissionId')
        .onRef('submissionSections.number', '=', 'submissionQuestions.sectionNumber'),
    )
    .where(sql<SqlBool>`${numberIn('ofPoints')} > 0 and ${numberIn('points')} is not null`)
    .select(['submissionQuestions.submissionId', 'submissionQuestions.questionId', 'submissionQuestions.number'])
    .select(['submissionQuestions.script', 'submissionQuestions.scriptFormat'])
    .select(({ ref }) => [
      sql<number>`${numberIn('points')} / ${numberIn('ofPoints')}`.as('share'),
      sql<
        number | null
      >`case when ${ref('submissionSections.navigation')} is distinct from 'free' then extract(epoch from ${ref('submissionQuestions.closedAt')} - coalesce(${ref('submissionQuestions.answersAt')}, ${ref('submissionQuestions.openedAt')}))::float8 end`.as(
        'seconds',
      ),
    ])
    .execute()
}

/** Lines of answers to questions that score themselves, the most frequent first, by question. */
async function countAnswers(ctx: Context, results: readonly ScoredResult[]): Promise<Map<string, AnswerLine[]>> {
  const { best, lowest } = thirdsOf(results)
  const fileTypes = [...ctx.deps.kinds].flatMap(([word, kind]) => (kind.files ? [word] : []))
  const line = sql<{ text: string }>`string_to_table(${sql.ref('answer_attempts.text')}, chr(10))`
  const rows = await ctx.db
    .selectFrom('answerAttempts')
    .where(({ ref }) => sql<SqlBool>`${ref('answerAttempts.submissionId')} = any(${[...best, ...lowest]}::uuid[])`)
    .where('answerAttempts.value', 'is not', null)
    .innerJoin(ctx.db.table('submissionQuestions'), (join) =>
      join
        .onRef('submissionQuestions.submissionId', '=', 'answerAttempts.submissionId')
        .onRef('submissionQuestions.number', '=', 'answerAttempts.questionNumber'),
    )
    .where(({ ref }) => sql<SqlBool>`${ref('submissionQuestions.responseType')} <> all(${fileTypes}::text[])`)
    .innerJoin(line.as<'line'>(sql`line (text)`), (join) => join.onTrue())
    .select(['submissionQuestions.questionId', 'line.text'])
    .select(({ ref }) => [
      sql<number>`count(*) filter (where ${ref('answerAttempts.submissionId')} = any(${best}::uuid[]))::int`.as('best'),
      sql<number>`count(*) filter (where ${ref('answerAttempts.submissionId')} = any(${lowest}::uuid[]))::int`.as('lowest'),
    ])
    .groupBy(['submissionQuestions.questionId', 'line.text'])
    .orderBy(({ fn }) => fn.countAll(), 'desc')
    .orderBy('line.text')
    .execute()
  const byQuestion = Map.groupBy(
    rows.filter(({ text }) => text.trim() !== ''),
    ({ questionId }) => questionId,
  )
  const sharesById = new Map(results.map(({ id, shares }) => [id, shares]))
  const toLines = (questionId: string, lines: typeof rows): AnswerLine[] => {
    const countAsked = (ids: string[]) => ids.filter((id) => sharesById.get(id)?.has(questionId)).length
    const [bestAsked, lowestAsked] = [countAsked(best), countAsked(lowest)]
    return lines.slice(0, MAX_ANSWERS).map((row) => ({
      text: row.text,
      best: bestAsked === 0 ? 0 : row.best / bestAsked,
      lowest: lowestAsked === 0 ? 0 : row.lowest / lowestAsked,
    }))
  }
  return new Map([...byQuestion].map(([id, lines]) => [id, toLines(id, lines)]))
}

/** @param days period of the invites, up to now. @throws DomainError not_permitted; assessment_not_found. */
export async function readFunnel(ctx: Context, assessmentId: string, days: number): Promise<Funnel> {
  const id = await findAssessment(ctx, assessmentId)
  const since = new Date(ctx.deps.clock().getTime() - days * DAY_MS)
  const invited = ctx.db.selectFrom('invites').where('invites.assessmentId', '=', id).where('invites.createdAt', '>=', since)
  const counts = await invited
    .leftJoin(ctx.db.table('submissions'), 'submissions.inviteId', 'invites.id')
    .select(({ fn, cast }) => [
      cast<number>(fn.countAll(), 'integer').as('invited'),
      cast<number>(fn.count('invites.acceptedAt'), 'integer').as('opened'),
      cast<number>(fn.count('invites.startedAt'), 'integer').as('started'),
      cast<number>(fn.count('invites.completedAt'), 'integer').as('completed'),
      cast<number>(fn.count('submissions.releasedAt'), 'integer').as('released'),
    ])
    .executeTakeFirstOrThrow()
  const lastOpened = invited
    .where('invites.startedAt', 'is not', null)
    .where('invites.completedAt', 'is', null)
    .innerJoin(ctx.db.table('submissions'), 'submissions.inviteId', 'invites.id')
    .innerJoin(ctx.db.table('submissionQuestions'), 'submissionQuestions.submissionId', 'submissions.id')
    .leftJoin(ctx.db.table('submissionSections'), (join) =>
      join
        .onRef('submissionSections.submissionId', '=', 'submissions.id')
        .onRef('submissionSections.number', '=', 'submissionQuestions.sectionNumber')
        .on('submissionSections.navigation', '=', 'free'),
    )
    .where('submissionQuestions.openedAt', 'is not', null)
    // All questions of a section with free navigation open together.
    .where(({ eb, fn, ref }) =>
      eb(
        'submissionQuestions.number',
        '=',
        fn.coalesce(ref('submissionSections.currentNumber'), ref('submissionQuestions.number')),
      ),
    )
    .distinctOn('submissions.id')
    .orderBy('submissions.id')
    .orderBy('submissionQuestions.number', 'desc')
    .select('submissionQuestions.questionId')
  const stops = await ctx.db
    .selectFrom(lastOpened.as('last'))
    .innerJoin(currentQuestions(ctx.db, id).as('current'), 'current.id', 'last.questionId')
    .select(({ fn, cast }) => ['current.place as number', cast<number>(fn.countAll(), 'integer').as('candidates')])
    .groupBy('current.place')
    .orderBy(({ fn }) => fn.countAll(), 'desc')
    .orderBy('current.place')
    .limit(3)
    .execute()
  return { ...counts, stops }
}

/** Invites by week, oldest first, and by the tags of most invites. @param days as for readFunnel. @throws DomainError as readFunnel. */
export async function readGroups(
  ctx: Context,
  assessmentId: string,
  days: number,
): Promise<{ weeks: WeekFigures[]; tags: TagFigures[] }> {
  const id = await findAssessment(ctx, assessmentId)
  const since = new Date(ctx.deps.clock().getTime() - days * DAY_MS)
  const invited = ctx.db.selectFrom('invites').where('invites.assessmentId', '=', id).where('invites.createdAt', '>=', since)
  const weeks = await invited
    .select(({ fn, cast, ref }) => [
      sql<string>`to_char(date_trunc('week', ${ref('invites.createdAt')} at time zone 'UTC'), 'YYYY-MM-DD')`.as('week'),
      cast<number>(fn.countAll(), 'integer').as('invited'),
      cast<number>(fn.count('invites.completedAt'), 'integer').as('completed'),
    ])
    .groupBy('week')
    .orderBy('week')
    .execute()
  const tags = await invited
    .innerJoin(ctx.db.table('inviteTags'), 'inviteTags.inviteId', 'invites.id')
    .innerJoin(ctx.db.table('tags'), 'tags.id', 'inviteTags.tagId')
    .leftJoin(ctx.db.table('submissions'), 'submissions.inviteId', 'invites.id')
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom(ctx.db.table('releases'))
          .whereRef('releases.submissionId', '=', 'submissions.id')
          .select(['releases.points', 'releases.ofPoints'])
          .orderBy('releases.version', 'desc')
          .limit(eb.lit(1))
          .as('released'),
      (join) => join.onTrue(),
    )
    .select(({ fn, cast, ref }) => [
      'tags.name',
      cast<number>(fn.countAll(), 'integer').as('invited'),
      cast<number>(fn.count('invites.completedAt'), 'integer').as('completed'),
      sql<number | null>`round(avg(${ref('released.points')} * 100 / nullif(${ref('released.ofPoints')}, 0)))::int`.as('percent'),
    ])
    .groupBy(['tags.id', 'tags.name'])
    .orderBy(({ fn }) => fn.countAll(), 'desc')
    .orderBy('tags.name')
    .limit(20)
    .execute()
  return { weeks, tags }
}

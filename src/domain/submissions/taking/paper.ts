import { sql } from '../../../db/builder.ts'
import type { Condition, Expression, Expressions } from '../../../db/queries.ts'
import { copyColumns, DEFAULT, givenRows, insertFromSelect, uuid } from '../../../db/writes.ts'
import type { SubmissionQuestion, SubmissionSection } from '../../../generated/prisma/client.ts'
import type { DrawnQuestion } from '../../assessments/draw-questions.ts'
import { sealVersions } from '../../assessments/question-versions.ts'
import type { Context } from '../../context.ts'
import { UPLOAD_GRACE_SECONDS } from '../../limits.ts'
import { gradedLanguages } from '../graded-languages.ts'
import { copySections, drawPaper } from './draw-paper.ts'
import type { PreparedSession } from './session.ts'

export type { SubmissionQuestion, SubmissionSection }

type PaperRef = { submissionId: string; assessmentId: string }
type Inside = Pick<Context, 'db' | 'organization' | 'deps' | 'mode'>

/**
 * Draws and copies the questions and seals their versions. An unsealed version may be edited meanwhile: then everything is copied again after
 * sealing, so that texts and options belong to one edit.
 */
export async function copyPaper(ctx: Inside, place: PaperRef): Promise<void> {
  const ofPaper = ctx.db.selectFrom('submissionQuestions').where('submissionQuestions.submissionId', '=', place.submissionId)
  const drawn = await drawPaper(ctx, place)
  let copied = await copyQuestions(ctx, place, drawn)
  while (copied.some(({ version }) => version?.isUnsealed)) {
    await sealVersions(ctx, ofPaper.select('submissionQuestions.versionId'))
    await ctx.db.deleteFrom('submissionQuestions').where('submissionQuestions.submissionId', '=', place.submissionId).execute()
    copied = await copyQuestions(ctx, place, drawn)
  }
  if (drawn.some(({ sectionNumber }) => sectionNumber !== null)) await copySections(ctx, place.submissionId, drawn)
  await arrangePaper(ctx, place.submissionId, copied)
  const hasKinds = copied.some(({ version }) => version !== null)
  await recordGrading(ctx, place, hasKinds)
}

type Version = { isUnsealed: boolean; responseType: string; spec: unknown }
type Copied = { number: number; version: Version | null }

/** @returns the version of each question; null: it has none. */
async function copyQuestions(ctx: Inside, { submissionId, assessmentId }: PaperRef, drawn: DrawnQuestion[]): Promise<Copied[]> {
  type Drawn = { question: string; place: number; section: number | null }
  const columns = [
    sql`${drawn.map(({ id }) => id)}::uuid[]`,
    sql`${drawn.map(({ number }) => number)}::integer[]`,
    sql`${drawn.map(({ sectionNumber }) => sectionNumber)}::integer[]`,
  ]
  const places = sql<Drawn>`unnest(${sql.join(columns)})`
  const questions = ctx.db
    .selectFrom('questions')
    .innerJoin(places.as<'drawn'>(sql`drawn (question, place, section)`), 'drawn.question', 'questions.id')
    .where('questions.assessmentId', '=', assessmentId)
  const paper = insertFromSelect(ctx.db, 'submissionQuestions', questions, (eb) => ({
    ...copyColumns(
      eb,
      'organizationId',
      'inputType',
      'responseType',
      'script',
      'scriptFormat',
      'audioUrl',
      'videoUrl',
      'points',
      'timeLimit',
      'preparationTime',
      'simultaneous',
    ),
    ...copyColumns(eb, 'sourceLanguage', 'targetLanguage', 'versionId', 'assetIds', 'rubric'),
    submissionId: uuid(submissionId),
    number: eb.ref('drawn.place'),
    sectionNumber: eb.ref('drawn.section'),
    questionId: eb.ref('questions.id'),
    plays: DEFAULT,
    playUsedAt: DEFAULT,
    openedAt: DEFAULT,
    answersAt: DEFAULT,
    closesAt: DEFAULT,
    closedAt: DEFAULT,
    shown: DEFAULT,
    isMarked: DEFAULT,
  }))
  const version = ctx.db
    .selectFrom('questionVersions')
    .where('questionVersions.id', '=', sql.ref<string>('submissionQuestions.versionId'))
    .select(({ ref }) => {
      const [lockedAt, responseType] = [ref('questionVersions.lockedAt'), ref('questionVersions.responseType')]
      const members = sql`'isUnsealed', ${lockedAt} is null, 'responseType', ${responseType}, 'spec', ${ref('questionVersions.spec')}`
      return sql<Version>`jsonb_build_object(${members})`.as('version')
    })
  return paper.returning(['submissionQuestions.number', version.as('version')]).execute()
}

/** Shuffles the options of the paper's questions. */
async function arrangePaper(ctx: Inside, submissionId: string, copied: readonly Copied[]): Promise<void> {
  const arranged = copied.flatMap(({ number, version }) => {
    const shown = version && ctx.deps.kinds.get(version.responseType)?.arrange(version.spec, ctx.deps.random)
    return shown ? [{ number, shown }] : []
  })
  if (arranged.length === 0) return
  const arrange = ctx.db
    .updateTable('submissionQuestions')
    .from(givenRows('submissionQuestions', arranged).as('given'))
    .where('submissionQuestions.submissionId', '=', submissionId)
    .whereRef('given.number', '=', 'submissionQuestions.number')
    .set(({ ref }) => ({ shown: ref('given.shown') }))
  await arrange.execute()
}

/**
 * Records the languages that a grader must know. If answers are to be scored, it also fixes the penalty, and records that it is unknown
 * whether a grader is needed.
 */
async function recordGrading(ctx: Inside, { submissionId, assessmentId }: PaperRef, hasKinds: boolean): Promise<void> {
  const assessment = ctx.db
    .selectFrom('assessments')
    .where('assessments.id', '=', assessmentId)
    .select('assessments.penaltyPercent')
    .$asScalar()
    .$notNull()
  const recording = ctx.db
    .updateTable('submissions')
    .where('submissions.id', '=', submissionId)
    .set({ gradedLanguages: gradedLanguages(ctx.db, submissionId) })
    .$if(hasKinds, (update) => update.set({ needsGrading: null, penaltyPercent: assessment }))
  await recording.execute()
}

export type Timed = Pick<SubmissionQuestion, 'openedAt' | 'closesAt' | 'closedAt'>

/** True if the question is being asked: opened, not left, and within its time. */
export const isQuestionOpen = ({ openedAt, closesAt, closedAt }: Timed, now: Date): boolean =>
  openedAt !== null && closedAt === null && (closesAt === null || now < closesAt)

/** The condition of that. */
export const isOpenAt = (eb: Expressions<'submissionQuestions'>, now: Date): Condition =>
  eb.and([
    eb('submissionQuestions.openedAt', 'is not', null),
    eb('submissionQuestions.closedAt', 'is', null),
    closesAfter(eb, now),
  ])

/** True before answering begins, in the preparation time. */
export const isPreparing = ({ answersAt }: Pick<SubmissionQuestion, 'answersAt'>, now: Date): boolean =>
  answersAt !== null && now < answersAt

const closesAfter = (eb: Expressions<'submissionQuestions'>, time: Date) =>
  eb.or([eb('submissionQuestions.closesAt', 'is', null), eb('submissionQuestions.closesAt', '>', time)])

/**
 * SQL condition: the question accepts a text that was typed in time: it is open, or its time ended within the grace period for
 * uploads and the candidate had not left it.
 */
export function acceptsTextAt(eb: Expressions<'submissionQuestions'>, now: Date): Condition {
  const graceStart = new Date(now.getTime() - UPLOAD_GRACE_SECONDS * 1_000)
  const isLeftByTime = eb('submissionQuestions.closedAt', '=', eb.ref('submissionQuestions.closesAt'))
  return eb.and([
    eb('submissionQuestions.openedAt', 'is not', null),
    eb.or([eb('submissionQuestions.closedAt', 'is', null), isLeftByTime]),
    closesAfter(eb, graceStart),
  ])
}

/** Interval of a limit with the extra time; null without a limit. @param limit seconds; 0: none. */
export const limitWithExtra = (limit: Expression<number>, percent: Expression<unknown>) =>
  sql`nullif(${limit}, 0)::double precision * (100 + ${percent}) / 100 * interval '1 second'`

/** Closes a question for good; after its time it is closed as of the end of its time. Ignores questions that are not open. */
export async function closeQuestion({ ctx, submission }: PreparedSession, number: number): Promise<void> {
  const close = ctx.db
    .updateTable('submissionQuestions')
    .where('submissionQuestions.submissionId', '=', submission.id)
    .where('submissionQuestions.number', '=', number)
    .where('submissionQuestions.openedAt', 'is not', null)
    .where('submissionQuestions.closedAt', 'is', null)
    .set(({ ref }) => ({ closedAt: sql<Date>`least(${ctx.deps.clock()}::timestamptz, ${ref('submissionQuestions.closesAt')})` }))
  await close.execute()
}

/** @returns the question if it is open now. */
export async function findOpenQuestion({ ctx, submission }: PreparedSession, number: number): Promise<SubmissionQuestion | null> {
  const { db, deps, organization } = ctx
  const where = { organizationId: organization.id, submissionId: submission.id, number }
  const question = await db.submissionQuestion.findFirst({ where })
  return question && isQuestionOpen(question, deps.clock()) ? question : null
}

import { sql } from '../../../db/builder.ts'
import type { Condition, Expression, Expressions } from '../../../db/queries.ts'
import { copyColumns, DEFAULT, givenRows, insertFromSelect, uuid } from '../../../db/writes.ts'
import type { SubmissionQuestion } from '../../../generated/prisma/client.ts'
import { sealVersions } from '../../assessments/question-versions.ts'
import type { Context } from '../../context.ts'
import { UPLOAD_GRACE_SECONDS } from '../../limits.ts'
import { inTransaction } from '../../transaction.ts'
import { refuseSession } from './refuse-session.ts'
import type { PreparedSession } from './session.ts'

export type { SubmissionQuestion }

type PaperRef = { submissionId: string; assessmentId: string }
type Inside = Pick<Context, 'db' | 'organization' | 'deps' | 'mode'>

/**
 * Copies the questions, and seals their versions. A version that was not sealed may have changed since: it is sealed after
 * waiting for its editor, and everything is copied again, so that texts and options are of one edit.
 */
export async function copyPaper(ctx: Inside, place: PaperRef): Promise<void> {
  const ofPaper = ctx.db.selectFrom('submissionQuestions').where('submissionQuestions.submissionId', '=', place.submissionId)
  let copied = await copyQuestions(ctx, place)
  while (copied.some(({ isUnsealed }) => isUnsealed)) {
    await sealVersions(ctx, ofPaper.select('submissionQuestions.versionId'))
    await ctx.db.deleteFrom('submissionQuestions').where('submissionQuestions.submissionId', '=', place.submissionId).execute()
    copied = await copyQuestions(ctx, place)
  }
  if (copied.every(({ versionId }) => versionId === null)) return
  await arrangePaper(ctx, place.submissionId)
  await insertUnscored(ctx, place)
}

/** @returns of each its version, and whether that could still be changed. */
async function copyQuestions(ctx: Inside, { submissionId, assessmentId }: PaperRef) {
  const questions = ctx.db.selectFrom('questions').where('questions.assessmentId', '=', assessmentId)
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
    ),
    ...copyColumns(eb, 'sourceLanguage', 'targetLanguage', 'versionId', 'assetIds'),
    submissionId: uuid(submissionId),
    number: eb.fn.agg<number>('row_number').over((over) => over.orderBy('questions.order').orderBy('questions.id')),
    questionId: eb.ref('questions.id'),
    plays: DEFAULT,
    playUsedAt: DEFAULT,
    openedAt: DEFAULT,
    answersAt: DEFAULT,
    closesAt: DEFAULT,
    closedAt: DEFAULT,
    shown: DEFAULT,
  }))
  const isUnsealed = ctx.db
    .selectFrom('questionVersions')
    .where('questionVersions.id', '=', sql.ref<string>('submissionQuestions.versionId'))
    .select((eb) => eb('questionVersions.lockedAt', 'is', null).as('isUnsealed'))
  return paper.returning(['submissionQuestions.versionId', isUnsealed.as('isUnsealed')]).execute()
}

/** Gives a paper its own order of what its versions show. */
async function arrangePaper(ctx: Inside, submissionId: string): Promise<void> {
  const ofPaper = ctx.db.selectFrom('submissionQuestions').where('submissionQuestions.submissionId', '=', submissionId)
  const versions = ofPaper.innerJoin(ctx.db.table('questionVersions'), 'questionVersions.id', 'submissionQuestions.versionId')
  const asked = await versions
    .select(['submissionQuestions.number', 'questionVersions.responseType', 'questionVersions.spec'])
    .execute()
  const arranged = asked.flatMap(({ number, responseType, spec }) => {
    const shown = ctx.deps.kinds.get(responseType)?.arrange(spec, ctx.deps.random)
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

/** Until it is scored nobody knows whether it needs people. What a wrong answer costs is what it is now. */
async function insertUnscored(ctx: Inside, { submissionId, assessmentId }: PaperRef): Promise<void> {
  const assessment = ctx.db
    .selectFrom('assessments')
    .where('assessments.id', '=', assessmentId)
    .select('assessments.penaltyPercent')
  const expect = ctx.db
    .updateTable('submissions')
    .where('submissions.id', '=', submissionId)
    .set({ needsGrading: null, penaltyPercent: assessment as never })
  await expect.execute()
}

type Timed = Pick<SubmissionQuestion, 'openedAt' | 'closesAt' | 'closedAt'>

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

const closesAfter = (eb: Expressions<'submissionQuestions'>, then: Date) =>
  eb.or([eb('submissionQuestions.closesAt', 'is', null), eb('submissionQuestions.closesAt', '>', then)])

/**
 * SQL condition: the question accepts a text that was typed in time: it is open, or its time ended within the grace period for
 * uploads and the candidate had not left it.
 */
export function acceptsTextAt(eb: Expressions<'submissionQuestions'>, now: Date): Condition {
  const over = new Date(now.getTime() - UPLOAD_GRACE_SECONDS * 1_000)
  const isLeftByTime = eb('submissionQuestions.closedAt', '=', eb.ref('submissionQuestions.closesAt'))
  return eb.and([
    eb('submissionQuestions.openedAt', 'is not', null),
    eb.or([eb('submissionQuestions.closedAt', 'is', null), isLeftByTime]),
    closesAfter(eb, over),
  ])
}

/** Position of a candidate: at an open question, before the next one, or (neither) at the end. */
export function findPosition<Q extends Timed>(paper: readonly Q[], now: Date): { open: Q | undefined; next: Q | undefined } {
  const open = paper.find((question) => isQuestionOpen(question, now))
  return { open, next: open ? undefined : paper.find(({ openedAt }) => openedAt === null) }
}

/**
 * Opens a question: its preparation time begins, or else its time limit. Neither goes beyond that of the whole. Only the next one can be opened, once those before it are
 * closed; otherwise nothing happens.
 *
 * @throws DomainError session_refused (not_shared).
 */
export async function openQuestion(session: PreparedSession, number: number): Promise<void> {
  const { ctx, submission } = session
  const now = ctx.deps.clock()
  await inTransaction(ctx, async (inside) => {
    const taken = inside.db
      .selectFrom('submissions')
      .where('id', '=', submission.id)
      .where('state', '=', 'in_progress')
      .where('consentAt', 'is not', null)
      .where((eb) => eb.or([eb('deadlineAt', 'is', null), eb('deadlineAt', '>', now)]))
    const held = await taken.select(['deadlineAt', 'extraTimePercent']).forNoKeyUpdate().executeTakeFirst()
    if (!held) return
    const ofPaper = inside.db.selectFrom('submissionQuestions').where('submissionQuestions.submissionId', '=', submission.id)
    const isBefore = ofPaper
      .where('submissionQuestions.number', '<', number)
      .where((eb) => eb.or([eb('submissionQuestions.openedAt', 'is', null), isOpenAt(eb, now)]))
    const open = inside.db
      .updateTable('submissionQuestions')
      .where('submissionQuestions.submissionId', '=', submission.id)
      .where('submissionQuestions.number', '=', number)
      .where('submissionQuestions.openedAt', 'is', null)
      .where(({ exists, not }) => not(exists(isBefore.select('submissionQuestions.number'))))
      .set(({ ref }) => {
        const percent = sql`${held.extraTimePercent}::integer`
        const deadline = sql`${held.deadlineAt}::timestamptz`
        const prepared = sql`${now}::timestamptz + ${limitWithExtra(ref('submissionQuestions.preparationTime'), percent)}`
        const over = sql`coalesce(${prepared}, ${now}::timestamptz) + ${limitWithExtra(ref('submissionQuestions.timeLimit'), percent)}`
        return {
          openedAt: now,
          answersAt: sql<Date | null>`case when ${prepared} is not null then least(${prepared}, ${deadline}) end`,
          closesAt: sql<Date | null>`least(${over}, ${deadline})`,
        }
      })
    const opened = await open.returning('submissionQuestions.closesAt').executeTakeFirst()
    if (!opened) return
    await requireSharedScreen(inside, session)
    if (!opened.closesAt || held.deadlineAt) return
    // After the end of the last question nothing can be answered any more: the submission is handed in then.
    const later = ofPaper.where('submissionQuestions.number', '>', number).select('submissionQuestions.number')
    const end = inside.db
      .updateTable('submissions')
      .where('submissions.id', '=', submission.id)
      .where(({ exists, not }) => not(exists(later)))
      .set({ deadlineAt: opened.closesAt, isDeadlineOfQuestion: true })
    await end.execute()
  })
}

/** A limit with the extra time, as an interval; null: there is none. @param limit seconds; 0: none. */
export const limitWithExtra = (limit: Expression<number>, percent: Expression<unknown>) =>
  sql`nullif(${limit}, 0)::double precision * (100 + ${percent}) / 100 * interval '1 second'`

/** Closes a question for good, by its time if that is over already. One that is not open stays as it is. */
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

/**
 * Lets nobody go on whose screen has to be recorded and is not: from the first question to the last there is a recording that goes on,
 * unless the organization has waived it.
 *
 * @throws DomainError session_refused (not_shared).
 */
async function requireSharedScreen(
  { db, organization }: Context,
  { invite, submission }: Pick<PreparedSession, 'invite' | 'submission'>,
): Promise<void> {
  if (!invite.screenRecording || invite.waivedChecks.includes('screen') || !submission.consentMedia.includes('screen')) return
  const where = { organizationId: organization.id, submissionId: submission.id, kind: 'screen', state: 'uploading' } as const
  if ((await db.mediaFile.count({ where })) === 0) refuseSession('not_shared')
}

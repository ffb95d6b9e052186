import { sql } from '../../../db/builder.ts'
import { type Condition, type Expression, type Expressions, own, ownDelete, ownUpdate, sameOwner } from '../../../db/own.ts'
import { all, first, run } from '../../../db/statements.ts'
import { byDefault, givenRows, insertForEach, same, uuid } from '../../../db/writes.ts'
import type { PaperQuestion } from '../../../generated/prisma/client.ts'
import { sealVersions } from '../../assessments/versions.ts'
import type { Context } from '../../context.ts'
import { UPLOAD_GRACE_SECONDS } from '../../limits.ts'
import { inTransaction } from '../../transaction.ts'
import { requireSharedScreen } from './require-shared-screen.ts'
import type { PreparedSession } from './session.ts'

export type { PaperQuestion }

type Place = { submissionId: string; assessmentId: string }
type Inside = Pick<Context, 'db' | 'organization' | 'deps' | 'mode'>

/**
 * Copies the questions of the assessment as they are now, in the order in which they are answered: numbers 1 to n. What of them each
 * candidate sees in an order of their own is shuffled here, once.
 *
 * What is copied stays with its version, which is sealed from then on. One that was not, when it was copied, may have been changed since: it is
 * sealed, for which whoever is changing it is waited for, and all is copied once more, so that texts and options are of one edit.
 */
export async function copyPaper(ctx: Inside, place: Place): Promise<void> {
  const ofPaper = own(ctx, 'paperQuestions').where('paperQuestions.submissionId', '=', place.submissionId)
  let copied = await copyQuestions(ctx, place)
  while (copied.some(({ isUnsealed }) => isUnsealed)) {
    await sealVersions(ctx, ofPaper.select('paperQuestions.versionId'))
    await run(ctx.db, ownDelete(ctx, 'paperQuestions').where('paperQuestions.submissionId', '=', place.submissionId))
    copied = await copyQuestions(ctx, place)
  }
  if (copied.every(({ versionId }) => versionId === null)) return
  await arrangePaper(ctx, place.submissionId)
  await expectScores(ctx, place)
}

/** @returns of each its version, and whether that could still be changed. */
async function copyQuestions(ctx: Inside, { submissionId, assessmentId }: Place) {
  const questions = own(ctx, 'questions').where('questions.assessmentId', '=', assessmentId)
  const paper = insertForEach('paperQuestions', questions, (eb) => ({
    ...same(
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
    ),
    ...same(eb, 'sourceLanguage', 'targetLanguage', 'versionId', 'assetIds'),
    submissionId: uuid(submissionId),
    number: eb.fn.agg<number>('row_number').over((over) => over.orderBy('questions.order').orderBy('questions.id')),
    questionId: eb.ref('questions.id'),
    plays: byDefault,
    playUsedAt: byDefault,
    openedAt: byDefault,
    closesAt: byDefault,
    closedAt: byDefault,
    shown: byDefault,
  }))
  const isUnsealed = own(ctx, 'questionVersions')
    .where('questionVersions.id', '=', sql.ref<string>('paperQuestions.versionId'))
    .select((eb) => eb('questionVersions.sealedAt', 'is', null).as('isUnsealed'))
  return all(ctx.db, paper.returning(['paperQuestions.versionId', isUnsealed.as('isUnsealed')]))
}

/** Gives a paper its own order of what its versions show. */
async function arrangePaper(ctx: Inside, submissionId: string): Promise<void> {
  const ofPaper = own(ctx, 'paperQuestions').where('paperQuestions.submissionId', '=', submissionId)
  const versions = ofPaper.innerJoin('questionVersions', (join) =>
    join.on(sameOwner('questionVersions', 'paperQuestions')).onRef('questionVersions.id', '=', 'paperQuestions.versionId'),
  )
  const asked = await all(
    ctx.db,
    versions.select(['paperQuestions.number', 'questionVersions.responseType', 'questionVersions.spec']),
  )
  const arranged = asked.flatMap(({ number, responseType, spec }) => {
    const shown = ctx.deps.kinds.get(responseType)?.arrange(spec, ctx.deps.random)
    return shown ? [{ number, shown }] : []
  })
  if (arranged.length === 0) return
  const arrange = ownUpdate(ctx, 'paperQuestions')
    .from(givenRows('paperQuestions', arranged).as('given'))
    .where('paperQuestions.submissionId', '=', submissionId)
    .whereRef('given.number', '=', 'paperQuestions.number')
    .set(({ ref }) => ({ shown: ref('given.shown') }))
  await run(ctx.db, arrange)
}

/** Until it is scored nobody knows whether it needs people. What a wrong answer costs is what it is now. */
async function expectScores(ctx: Inside, { submissionId, assessmentId }: Place): Promise<void> {
  const assessment = own(ctx, 'assessments').where('assessments.id', '=', assessmentId).select('assessments.penaltyPercent')
  const expect = ownUpdate(ctx, 'submissions')
    .where('submissions.id', '=', submissionId)
    .set({ needsPeople: null, penaltyPercent: assessment as never })
  await run(ctx.db, expect)
}

type Timed = Pick<PaperQuestion, 'openedAt' | 'closesAt' | 'closedAt'>

/** Whether a question takes answers: it was opened, the candidate has not gone on, and its time is not over. */
export const isOpen = ({ openedAt, closesAt, closedAt }: Timed, now: Date): boolean =>
  openedAt !== null && closedAt === null && (closesAt === null || now < closesAt)

/** The condition of that. */
export const openAt = (eb: Expressions<'paperQuestions'>, now: Date): Condition =>
  eb.and([eb('paperQuestions.openedAt', 'is not', null), eb('paperQuestions.closedAt', 'is', null), closesAfter(eb, now)])

const closesAfter = (eb: Expressions<'paperQuestions'>, then: Date) =>
  eb.or([eb('paperQuestions.closesAt', 'is', null), eb('paperQuestions.closesAt', '>', then)])

/**
 * Whether a question takes a text that was typed in time: it is open, or its time, and not its candidate, has ended it no longer ago than
 * recordings may be uploaded.
 */
export function openOrJustOverAt(eb: Expressions<'paperQuestions'>, now: Date): Condition {
  const over = new Date(now.getTime() - UPLOAD_GRACE_SECONDS * 1_000)
  const isLeftByTime = eb('paperQuestions.closedAt', '=', eb.ref('paperQuestions.closesAt'))
  return eb.and([
    eb('paperQuestions.openedAt', 'is not', null),
    eb.or([eb('paperQuestions.closedAt', 'is', null), isLeftByTime]),
    closesAfter(eb, over),
  ])
}

/** Where a candidate is: at an open question, before the next one, or (neither) at the end. */
export function findPosition<Q extends Timed>(paper: readonly Q[], now: Date): { open: Q | undefined; next: Q | undefined } {
  const open = paper.find((question) => isOpen(question, now))
  return { open, next: open ? undefined : paper.find(({ openedAt }) => openedAt === null) }
}

/**
 * Opens a question: its time begins, and never goes beyond that of the whole. Only the next one can be opened, once those before it are
 * closed; otherwise nothing happens.
 *
 * @throws DomainError session_refused (not_shared).
 */
export async function openQuestion(session: PreparedSession, number: number): Promise<void> {
  const { ctx, submission } = session
  const now = ctx.deps.clock()
  await inTransaction(ctx, async (inside) => {
    const taken = own(inside, 'submissions')
      .where('id', '=', submission.id)
      .where('state', '=', 'in_progress')
      .where('consentAt', 'is not', null)
      .where((eb) => eb.or([eb('deadlineAt', 'is', null), eb('deadlineAt', '>', now)]))
    const held = await first(inside.db, taken.select(['deadlineAt', 'extraTimePercent']).forNoKeyUpdate())
    if (!held) return
    const ofPaper = own(inside, 'paperQuestions').where('paperQuestions.submissionId', '=', submission.id)
    const isBefore = ofPaper
      .where('paperQuestions.number', '<', number)
      .where((eb) => eb.or([eb('paperQuestions.openedAt', 'is', null), openAt(eb, now)]))
    const open = ownUpdate(inside, 'paperQuestions')
      .where('paperQuestions.submissionId', '=', submission.id)
      .where('paperQuestions.number', '=', number)
      .where('paperQuestions.openedAt', 'is', null)
      .where(({ exists, not }) => not(exists(isBefore.select('paperQuestions.number'))))
      .set(({ ref }) => {
        const over = sql`${now}::timestamptz + ${limitWithExtra(ref('paperQuestions.timeLimit'), sql`${held.extraTimePercent}::integer`)}`
        return { openedAt: now, closesAt: sql<Date | null>`least(${over}, ${held.deadlineAt}::timestamptz)` }
      })
    const opened = await first(inside.db, open.returning('paperQuestions.closesAt'))
    if (!opened) return
    await requireSharedScreen(inside, session)
    if (!opened.closesAt || held.deadlineAt) return
    // After the end of the last question nothing can be answered any more: the submission is handed in then.
    const later = ofPaper.where('paperQuestions.number', '>', number).select('paperQuestions.number')
    const end = ownUpdate(inside, 'submissions')
      .where('submissions.id', '=', submission.id)
      .where(({ exists, not }) => not(exists(later)))
      .set({ deadlineAt: opened.closesAt, isDeadlineOfQuestion: true })
    await run(inside.db, end)
  })
}

/** A limit with the extra time, as an interval; null: there is none. @param limit seconds; 0: none. */
export const limitWithExtra = (limit: Expression<number>, percent: Expression<unknown>) =>
  sql`nullif(${limit}, 0)::double precision * (100 + ${percent}) / 100 * interval '1 second'`

/** Closes a question for good, by its time if that is over already. One that is not open stays as it is. */
export async function closeQuestion({ ctx, submission }: PreparedSession, number: number): Promise<void> {
  const close = ownUpdate(ctx, 'paperQuestions')
    .where('paperQuestions.submissionId', '=', submission.id)
    .where('paperQuestions.number', '=', number)
    .where('paperQuestions.openedAt', 'is not', null)
    .where('paperQuestions.closedAt', 'is', null)
    .set(({ ref }) => ({ closedAt: sql<Date>`least(${ctx.deps.clock()}::timestamptz, ${ref('paperQuestions.closesAt')})` }))
  await run(ctx.db, close)
}

/** @returns the question if it is open now. */
export async function findOpenQuestion({ ctx, submission }: PreparedSession, number: number): Promise<PaperQuestion | null> {
  const { db, deps, organization } = ctx
  const where = { organizationId: organization.id, submissionId: submission.id, number }
  const question = await db.paperQuestion.findFirst({ where })
  return question && isOpen(question, deps.clock()) ? question : null
}

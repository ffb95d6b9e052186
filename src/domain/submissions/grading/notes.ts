import type { Prisma } from '../../../generated/prisma/client.ts'
import type { Context } from '../../context.ts'
import { DomainError, type Violation } from '../../errors.ts'
import { findNoteCategories } from '../../organization/note-categories.ts'
import { displayNameOf } from '../../text/display-name.ts'
import { isUuid } from '../../text/uuid.ts'
import { inTransaction } from '../../transaction.ts'
import { checkChoice, checkSize, checkText, findIssues } from '../../validation/checks.ts'
import { throwIfIssues } from '../../validation/throw-if-issues.ts'
import { type GradingRound, throwSubmissionNotFound } from './graded-submission.ts'
import { checkPoints, lockGrading, refuseOthersAnswers, requireGraderId } from './save-grade.ts'

/** Most characters of a note, and most notes on an answer. */
export const MAX_NOTE_LENGTH = 1_000
export const MAX_NOTES = 200

/** Milliseconds from the beginning of the recording. @property endMs null: a moment. @property pointsOff never subtracted: the grader's points count. */
type NoteContent = { startMs: number; endMs: number | null; category: string; text: string; pointsOff: number | null }
export type GradingNote = NoteContent & {
  id: string
  questionNumber: number
  mediaId: string
  graderId: string
  round: GradingRound
  name: string
  createdAt: Date
}
/** Note as released with a result, without its author. */
export type ReleasedNote = NoteContent

/** @param id made by the sender: a repeated note is the same. */
export type NewNote = NoteContent & { id: string; submissionId: string; mediaId: string }

const ORDER = [
  { questionNumber: 'asc' },
  { startMs: 'asc' },
  { id: 'asc' },
] satisfies Prisma.GradingNoteOrderByWithRelationInput[]

/** Notes on a submission's answers by time, of all graders. */
export async function findNotes({ db, organization }: Context, submissionId: string): Promise<GradingNote[]> {
  const where = { organizationId: organization.id, submissionId }
  const rows = await db.gradingNote.findMany({ where, include: { grader: { include: { user: true } } }, orderBy: ORDER })
  return rows.map(({ grader, pointsOff, round, ...row }) => ({
    ...row,
    round: round as GradingRound,
    pointsOff: pointsOff === null ? null : Number(pointsOff),
    name: displayNameOf(grader.user),
  }))
}

export const toReleasedNote = ({ startMs, endMs, category, text, pointsOff }: GradingNote): ReleasedNote => ({
  ...{ startMs, endMs, category, text, pointsOff },
})

/**
 * Adds a note at a moment of a recorded answer.
 *
 * @throws DomainError not_permitted; submission_not_found, also for a recording that is no answer of it; invalid, also (rule `account`:
 *   released, assignedToOther).
 */
export async function addNote(ctx: Context, { id, submissionId, mediaId, ...note }: NewNote): Promise<void> {
  await inTransaction(ctx, async (inside) => {
    const { db, deps, organization } = inside
    const grading = await lockGrading(inside, submissionId)
    const organizationId = organization.id
    const where = { organizationId, submissionId, mediaId, media: { state: 'ready' as const } }
    const attempt = isUuid(mediaId) && isUuid(id) ? await db.answerAttempt.findFirst({ where, include: { media: true } }) : null
    const question = grading.paper.find(({ number }) => number === attempt?.questionNumber)
    if (!attempt?.media || !question) throwSubmissionNotFound()
    refuseOthersAnswers(inside, grading, [question])
    const length = attempt.media.milliseconds ?? 0
    const count = await db.gradingNote.count({ where: { organizationId, mediaId, id: { not: id } } })
    throwIfIssues(
      findIssues([
        ['at', checkTime(note.startMs, 0, length)],
        ['until', note.endMs === null ? undefined : checkTime(note.endMs, note.startMs, length)],
        ['text', note.text === '' && note.category === '' ? { rule: 'required' } : checkText(note.text, MAX_NOTE_LENGTH)],
        ['text', checkSize('maxItems', count + 1, MAX_NOTES)],
        ['category', note.category === '' ? undefined : checkChoice(note.category, await findNoteCategories(inside))],
        ['pointsOff', checkPoints(note.pointsOff, question.points)],
      ]),
    )
    const { round, me: graderId } = grading
    const key = { id, organizationId, submissionId, questionNumber: question.number, mediaId, graderId, round }
    await db.gradingNote.createMany({ data: [{ ...key, ...note, createdAt: deps.clock() }], skipDuplicates: true })
  })
}

/** In seconds, as graders type them. */
function checkTime(ms: number, minimum: number, maximum: number): Violation | undefined {
  const limit = { minimum: Math.floor(minimum / 1_000), maximum: Math.ceil(maximum / 1_000) }
  if (Number.isNaN(ms)) return { rule: 'integer', limit }
  if (ms < minimum) return { rule: 'minimum', limit }
  return ms > maximum ? { rule: 'maximum', limit } : undefined
}

/**
 * Deletes a note of the actor's own. Repeating it does nothing.
 *
 * @throws DomainError not_permitted; submission_not_found; invalid (rule `account`: released).
 */
export async function deleteNote(ctx: Context, { submissionId, id }: { submissionId: string; id: string }): Promise<void> {
  await inTransaction(ctx, async (inside) => {
    await lockGrading(inside, submissionId)
    if (!isUuid(id)) throw new DomainError('submission_not_found')
    const where = { organizationId: ctx.organization.id, submissionId, id, graderId: requireGraderId(ctx) }
    await inside.db.gradingNote.deleteMany({ where })
  })
}

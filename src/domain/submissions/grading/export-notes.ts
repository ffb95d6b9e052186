import { scopeWhere } from '../../../db/queries.ts'
import { EXPORTED_AT_ONCE, runExport, type WriteBatch } from '../../audit/run-export.ts'
import type { Context } from '../../context.ts'
import { FORMER_GRADER } from '../../loaders/former-members.ts'
import { findExportedAssessment } from './export-grades.ts'
import type { ReleasedNote } from './notes.ts'

/** A grader's note on a recorded answer, released or not. @property grader their address. */
export type ExportedNote = ReleasedNote & {
  id: string
  submissionId: string
  inviteId: string
  recipientEmail: string
  recipientName: string | null
  questionNumber: number
  grader: string
  createdAt: Date
}

/**
 * Exports the notes on the answers of an assessment, in the order in which they were made.
 *
 * @throws DomainError not_permitted; assessment_not_found; too_many_exports.
 */
export async function exportNotes(ctx: Context, assessmentId: string, write: WriteBatch<ExportedNote>): Promise<void> {
  const { id } = await findExportedAssessment(ctx, assessmentId)
  const exported = { action: 'exported_notes', filter: { assessmentId: id } } as const
  await runExport(ctx, exported, (last) => findBatch(ctx, id, last?.id), write)
}

async function findBatch(ctx: Context, assessmentId: string, after: string | undefined): Promise<ExportedNote[]> {
  const rows = await ctx.db.gradingNote.findMany({
    where: {
      organizationId: ctx.organization.id,
      question: { submission: { ...scopeWhere(ctx), assessmentId } },
      ...(after !== undefined && { id: { gt: after } }),
    },
    include: {
      grader: { select: { email: true, erasedAt: true } },
      question: {
        select: {
          submission: { select: { inviteId: true, invite: { select: { recipientEmail: true, recipientName: true } } } },
        },
      },
    },
    orderBy: { id: 'asc' },
    take: EXPORTED_AT_ONCE,
  })
  return rows.map(({ question: { submission }, grader, pointsOff, ...note }) => ({
    ...note,
    ...submission.invite,
    inviteId: submission.inviteId,
    pointsOff: pointsOff === null ? null : Number(pointsOff),
    grader: grader.erasedAt ? FORMER_GRADER : grader.email,
  }))
}

import type { Context } from '../context.ts'
import { isTranscribing } from '../organization/transcription.ts'
import { type Needs, PHOTOS, type ProctoringTerms, type RequiredPhoto, toNeeds } from './needs.ts'

export async function findPhotos({ db, organization }: Context, submissionId: string): Promise<Record<RequiredPhoto, boolean>> {
  const where = { organizationId: organization.id, submissionId, kind: { in: [...PHOTOS] } }
  const found = await db.mediaFile.findMany({ where: { ...where, state: 'ready' }, select: { kind: true } })
  const hasPhoto = (photo: RequiredPhoto) => found.some(({ kind }) => kind === photo)
  return { id_photo: hasPhoto('id_photo'), face_photo: hasPhoto('face_photo') }
}

/** Requirements by the candidate's paper or, before the start, by the current questions. */
export async function findNeeds(
  ctx: Context,
  invite: ProctoringTerms & { assessmentId: string },
  startedSubmissionId: string | null,
): Promise<Needs> {
  const { db, organization } = ctx
  const organizationId = organization.id
  const questions =
    startedSubmissionId === null
      ? await db.question.groupBy({ by: ['responseType'], where: { organizationId, assessmentId: invite.assessmentId } })
      : await db.submissionQuestion.groupBy({
          by: ['responseType'],
          where: { organizationId, submissionId: startedSubmissionId },
        })
  return toNeeds(ctx.deps.kinds, invite, questions, await isTranscribing(ctx))
}

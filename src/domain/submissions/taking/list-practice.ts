import type { CandidateSession } from './session.ts'

/** The response types of the kinds that the candidate may practice before the start, in the order in which they are asked first; none: they may not. */
export async function listPractice({ ctx, invite }: CandidateSession): Promise<string[]> {
  const { db, deps, organization } = ctx
  if (!invite.assessment.practice || invite.status !== 'accepted') return []
  // Nothing is uploaded before the start, so candidates can't try file questions.
  const practicable = [...deps.kinds].flatMap(([word, { files }]) => (files ? [] : [word]))
  const questions = await db.question.findMany({
    where: {
      organizationId: organization.id,
      assessmentId: invite.assessmentId,
      version: { responseType: { in: practicable } },
    },
    select: { version: { select: { responseType: true } } },
    orderBy: [{ order: 'asc' }, { id: 'asc' }],
  })
  return [...new Set(questions.map(({ version }) => version!.responseType))]
}

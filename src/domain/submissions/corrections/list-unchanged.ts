import type { Context } from '../../context.ts'
import type { ListPage, PageRequest } from '../../lists/page.ts'
import { readPage } from '../../lists/page.ts'
import { authorizeCorrections } from './authorize-corrections.ts'

/** `decided`: a grader gave the points. `kept`: the released result stays, because the new one is lower or needs a grader. */
export const UNCHANGED_REASONS = ['decided', 'kept'] as const
export type UnchangedReason = (typeof UNCHANGED_REASONS)[number]

/** Answer whose result the correction left unchanged. @property points points by the key; null: a grader has to decide. */
export type UnchangedAnswer = {
  submissionId: string
  inviteId: string
  recipientEmail: string
  recipientName: string | null
  assessment: string
  number: number
  points: number | null
}

/** By the ids of the submissions. @throws DomainError not_permitted. */
export function listUnchanged(
  ctx: Context,
  { versionId, keyNumber, outcome }: { versionId: string; keyNumber: number; outcome: UnchangedReason },
  page: PageRequest,
): Promise<ListPage<UnchangedAnswer>> {
  authorizeCorrections(ctx)
  const found = ctx.db
    .selectFrom('submissions')
    .innerJoin(ctx.db.table('submissionQuestions'), (join) =>
      join.onRef('submissionQuestions.submissionId', '=', 'submissions.id').on('submissionQuestions.versionId', '=', versionId),
    )
    .innerJoin(ctx.db.table('questionScores'), (join) =>
      join
        .onRef('questionScores.submissionId', '=', 'submissionQuestions.submissionId')
        .onRef('questionScores.questionNumber', '=', 'submissionQuestions.number')
        .on('questionScores.keyNumber', '=', keyNumber)
        .on('questionScores.outcome', '=', outcome),
    )
  return readPage(
    page,
    async () => {
      const counted = found.select(({ fn, cast }) => cast<number>(fn.countAll(), 'integer').as('count'))
      return (await counted.execute())[0]!.count
    },
    ({ skip, take }) =>
      found
        .innerJoin(ctx.db.table('invites'), 'invites.id', 'submissions.inviteId')
        .innerJoin(ctx.db.table('assessments'), 'assessments.id', 'submissions.assessmentId')
        .select(['submissions.id as submissionId', 'submissions.inviteId', 'invites.recipientEmail', 'invites.recipientName'])
        .select(['assessments.name as assessment', 'submissionQuestions.number'])
        .select(({ cast }) => cast<number | null>('questionScores.points', 'float8').as('points'))
        .orderBy('submissions.id')
        .orderBy('submissionQuestions.number')
        .offset(skip)
        .limit(take)
        .execute(),
  )
}

import type { Prisma } from '../../../generated/prisma/client.ts'
import { authorize, may } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { nameOfDecision, readDecisionNames } from '../../invites/decisions/decision-names.ts'
import { isUuid } from '../../text/uuid.ts'
import { newestRelease } from '../newest-release.ts'
import { whereInviteSubmission } from '../reading/list-submissions.ts'
import { pseudonymOf } from '../result-parts.ts'
import type { ReleasedNote } from './notes.ts'
import type { ReleasedGrade } from './release-result.ts'
import { gradesOf, type Result, seesNames, toResult, visibleResults } from './results.ts'
import type { ReleasedCriterion } from './rubrics.ts'

/** Released result for printing: what the actor may see elsewhere, without the answers. */
export type ResultReport = {
  submissionId: string
  organization: string
  assessment: string
  candidate: { name: string | null; email: string }
  acceptedAt: Date | null
  startedAt: Date | null
  submittedAt: Date | null
  result: Pick<Result, 'version' | 'points' | 'ofPoints' | 'percent' | 'releasedAt' | 'band' | 'knockedOut'>
  /** Null: none, or not for this reader. */
  decision: { name: string; note: string; decidedAt: Date } | null
  /** For the candidate; empty where there is none, and for the assessment's clients. */
  message: string
  questions: ReportedQuestion[]
}

export type ReportedQuestion = {
  number: number
  script: string
  /** `plain` or `markdown`. */
  scriptFormat: string
  /** A code; null: not known. */
  language: string | null
  /** Null where the question gives none. */
  points: number | null
  ofPoints: number
  /** As it was released; empty where there is none, and for the assessment's clients. */
  comment: string
  /** As released; empty as the comment is. */
  notes: ReleasedNote[]
  decidedBy: ReleasedGrade['decidedBy']
  /** Empty without a rubric, and for the assessment's clients. */
  rubric: ReleasedCriterion[]
}

const include = {
  invite: { select: { recipientName: true, recipientEmail: true, acceptedAt: true } },
  assessment: { select: { name: true, clientSees: true } },
  paper: {
    select: { number: true, script: true, scriptFormat: true, sourceLanguage: true, points: true },
    orderBy: { number: 'asc' },
  },
  releases: newestRelease,
} satisfies Prisma.SubmissionInclude
type Row = Prisma.SubmissionGetPayload<{ include: typeof include }>

/**
 * Newest released result of an invite, also after grading was reopened.
 *
 * @throws DomainError not_permitted; invite_not_found; submission_not_found, see getInviteSubmission; result_not_released.
 */
export async function reportOnInvite(ctx: Context, inviteId: string): Promise<ResultReport> {
  authorize(ctx, 'read')
  const row = await findRow(ctx, await whereInviteSubmission(ctx, inviteId))
  if (!row) throw new DomainError('submission_not_found')
  return (await toReport(ctx, row)) ?? refuse('result_not_released')
}

/**
 * Released result of a submission.
 *
 * @throws DomainError not_permitted; submission_not_found, also without a released result.
 */
export async function reportOnSubmission(ctx: Context, id: string): Promise<ResultReport> {
  const where = visibleResults(ctx)
  const row = isUuid(id) ? await findRow(ctx, { ...where, id }) : null
  return (row && (await toReport(ctx, row))) ?? refuse('submission_not_found')
}

function refuse(kind: 'result_not_released' | 'submission_not_found'): never {
  throw new DomainError(kind)
}

const findRow = ({ db }: Context, where: Prisma.SubmissionWhereInput): Promise<Row | null> =>
  db.submission.findFirst({ where, include })

/** @returns null before the first release. */
async function toReport(ctx: Context, row: Row): Promise<ResultReport | null> {
  const { id, invite, assessment, paper, releases, startedAt, submittedAt } = row
  const [release] = releases
  if (!release) return null
  const result = toResult(release)
  const grades = new Map(gradesOf(release).map((grade) => [grade.number, grade]))
  const seesAll = may(ctx, 'read')
  const names = await readDecisionNames(ctx)
  return {
    submissionId: id,
    organization: ctx.organization.name,
    assessment: assessment.name,
    candidate: seesNames(ctx, assessment)
      ? { name: invite.recipientName, email: invite.recipientEmail }
      : { name: pseudonymOf({ id }), email: '' },
    acceptedAt: invite.acceptedAt,
    startedAt,
    submittedAt,
    result: seesAll ? result : { ...result, knockedOut: [] },
    decision:
      may(ctx, 'decide') && row.decidedAt
        ? { name: nameOfDecision(names, row.decision), note: row.decisionNote, decidedAt: row.decidedAt }
        : null,
    message: seesAll ? result.message : '',
    questions: paper.map(({ number, script, scriptFormat, sourceLanguage, points }) => {
      const grade = grades.get(number)
      return {
        number,
        script,
        scriptFormat,
        language: sourceLanguage,
        points: grade?.points ?? null,
        ofPoints: grade?.ofPoints ?? points,
        comment: seesAll ? (grade?.comment ?? '') : '',
        notes: seesAll ? (grade?.notes ?? []) : [],
        decidedBy: grade?.decidedBy,
        rubric: seesAll ? (grade?.rubric ?? []) : [],
      }
    }),
  }
}

import type { Prisma } from '../../../generated/prisma/client.ts'
import { authorize, may } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { isUuid } from '../../text/uuid.ts'
import { newestRelease } from '../newest-release.ts'
import { whereInviteSubmission } from '../reading/list-submissions.ts'
import { gradesOf, type Result, toResult, visibleResults } from './results.ts'

/** A released result, as it is handed on to people: what the context's actor may see of it elsewhere, and nothing that was sent in. */
export type ResultReport = {
  submissionId: string
  organization: string
  assessment: string
  candidate: { name: string | null; email: string }
  acceptedAt: Date | null
  startedAt: Date | null
  submittedAt: Date | null
  result: Pick<Result, 'version' | 'points' | 'ofPoints' | 'percent' | 'releasedAt'>
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
}

const include = {
  invite: { select: { recipientName: true, recipientEmail: true, acceptedAt: true } },
  assessment: { select: { name: true } },
  paper: {
    select: { number: true, script: true, scriptFormat: true, sourceLanguage: true, points: true },
    orderBy: { number: 'asc' },
  },
  releases: newestRelease,
} satisfies Prisma.SubmissionInclude
type Row = Prisma.SubmissionGetPayload<{ include: typeof include }>

/**
 * The result that was released last for an invite, also while it is graded anew.
 *
 * @throws DomainError not_permitted; invite_not_found; submission_not_found, see getInviteSubmission; result_not_released.
 */
export async function reportOnInvite(ctx: Context, inviteId: string): Promise<ResultReport> {
  authorize(ctx, 'read')
  const row = await findRow(ctx, await whereInviteSubmission(ctx, inviteId))
  if (!row) throw new DomainError('submission_not_found')
  return toReport(ctx, row) ?? refuse('result_not_released')
}

/**
 * The result of a submission for whoever may see it among the results.
 *
 * @throws DomainError not_permitted; submission_not_found, also for one without a released result.
 */
export async function reportOnSubmission(ctx: Context, id: string): Promise<ResultReport> {
  const where = visibleResults(ctx)
  const row = isUuid(id) ? await findRow(ctx, { ...where, id }) : null
  return (row && toReport(ctx, row)) ?? refuse('submission_not_found')
}

function refuse(kind: 'result_not_released' | 'submission_not_found'): never {
  throw new DomainError(kind)
}

const findRow = ({ db }: Context, where: Prisma.SubmissionWhereInput): Promise<Row | null> =>
  db.submission.findFirst({ where, include })

/** @returns null before the first release. */
function toReport(ctx: Context, row: Row): ResultReport | null {
  const { id, invite, assessment, paper, releases, startedAt, submittedAt } = row
  const [release] = releases
  if (!release) return null
  const result = toResult(release)
  const grades = new Map(gradesOf(release).map((grade) => [grade.number, grade]))
  const seesAll = may(ctx, 'read')
  return {
    submissionId: id,
    organization: ctx.organization.name,
    assessment: assessment.name,
    candidate: { name: invite.recipientName, email: invite.recipientEmail },
    acceptedAt: invite.acceptedAt,
    startedAt,
    submittedAt,
    result,
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
      }
    }),
  }
}

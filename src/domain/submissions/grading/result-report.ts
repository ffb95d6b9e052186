import { scopeWhere } from '../../../db/queries.ts'
import type { Prisma } from '../../../generated/prisma/client.ts'
import { authorize, may } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { nameOfDecision, readDecisionNames } from '../../invites/decisions/decision-names.ts'
import { chooseCandidateLanguage, FALLBACK_LANGUAGE, LANGUAGE_SOURCES } from '../../languages/choose-language.ts'
import { isUuid } from '../../text/uuid.ts'
import { zoneOf } from '../../time/zones.ts'
import { newestRelease } from '../newest-release.ts'
import { whereInviteSubmission } from '../reading/list-submissions.ts'
import { pseudonymOf } from '../result-parts.ts'
import type { ReleasedNote } from './notes.ts'
import type { ReleasedGrade } from './release-result.ts'
import { gradesOf, type Result, seesNames, toResult, visibleResults } from './results.ts'
import type { ReleasedCriterion } from './rubrics.ts'

/**
 * Reader of a report. A candidate's report is in the candidate's language, and omits decisions, knock-outs, and which grader's points
 * counted.
 */
export const REPORT_AUDIENCES = ['organization', 'candidate'] as const
export type ReportAudience = (typeof REPORT_AUDIENCES)[number]

/** Released result for printing: what the actor may see elsewhere, without the answers. */
export type ResultReport = {
  submissionId: string
  /** Language and time zone of its texts. */
  language: string
  timeZone: string
  organization: string
  assessment: string
  candidate: { name: string | null; email: string }
  acceptedAt: Date | null
  startedAt: Date | null
  submittedAt: Date | null
  result: Pick<Result, 'version' | 'points' | 'ofPoints' | 'percent' | 'releasedAt' | 'band' | 'knockedOut'>
  /** Null: none, or not for this reader. */
  decision: { name: string; note: string; decidedAt: Date } | null
  /** Message to the candidate; empty if there is none, and in reports for the assessment's clients. */
  message: string
  questions: ReportedQuestion[]
}

export type ReportedQuestion = {
  number: number
  /** Empty if it was spoken, and in the report that candidates download. */
  script: string
  /** `plain` or `markdown`. */
  scriptFormat: string
  /** A code; null: not known. */
  language: string | null
  /** Null if the question has no points. */
  points: number | null
  ofPoints: number
  /** The released comment; empty if there is none, and in reports for the assessment's clients. */
  comment: string
  /** As released; empty as the comment is. */
  notes: ReleasedNote[]
  /** Undefined with one grader, and for candidates. */
  decidedBy: ReleasedGrade['decidedBy']
  /** Empty without a rubric, and for the assessment's clients. */
  rubric: ReleasedCriterion[]
}

const include = {
  invite: { select: { id: true, recipientName: true, recipientEmail: true, acceptedAt: true } },
  assessment: { select: { name: true, clientSees: true } },
  paper: {
    select: { number: true, script: true, scriptFormat: true, sourceLanguage: true, points: true },
    orderBy: { number: 'asc' },
  },
  releases: newestRelease,
} satisfies Prisma.SubmissionInclude
type Row = Prisma.SubmissionGetPayload<{ include: typeof include }>

/** Columns of an invite that say in which language and time zone its candidate reads. */
const readerSelect = {
  language: true,
  chosenLanguage: true,
  timeZone: true,
  assessment: { select: LANGUAGE_SOURCES.assessment },
  organization: { select: { timeZone: true, ...LANGUAGE_SOURCES.organization } },
} satisfies Prisma.InviteSelect

/**
 * Newest released result of an invite, also after grading was reopened.
 *
 * @throws DomainError not_permitted; invite_not_found; submission_not_found, see getInviteSubmission; result_not_released.
 */
export async function reportOnInvite(ctx: Context, inviteId: string, audience: ReportAudience): Promise<ResultReport> {
  authorize(ctx, 'read')
  const row = await findRow(ctx, await whereInviteSubmission(ctx, inviteId))
  if (!row) throw new DomainError('submission_not_found')
  return (await toReport(ctx, row, await viewFor(ctx, row, audience))) ?? refuse('result_not_released')
}

/**
 * Released result of a submission.
 *
 * @throws DomainError not_permitted, also for clients who ask for the candidate's report; submission_not_found, also without a released
 *   result.
 */
export async function reportOnSubmission(ctx: Context, id: string, audience: ReportAudience): Promise<ResultReport> {
  if (audience === 'candidate') authorize(ctx, 'read')
  const where = visibleResults(ctx)
  const row = isUuid(id) ? await findRow(ctx, { ...where, id }) : null
  return (row && (await toReport(ctx, row, await viewFor(ctx, row, audience)))) ?? refuse('submission_not_found')
}

/**
 * The candidate's own report: points and message, as their page shows them.
 *
 * @param reader language and time zone of the candidate's page. @returns null if the result is not released to the candidate.
 */
export async function findOwnReport(ctx: Context, submissionId: string, reader: ReportReader): Promise<ResultReport | null> {
  const row = await findRow(ctx, { ...scopeWhere(ctx), id: submissionId })
  return row?.releases[0]?.toCandidate ? toReport(ctx, row, { ...OWN_VIEW, ...reader }) : null
}

function refuse(kind: 'result_not_released' | 'submission_not_found'): never {
  throw new DomainError(kind)
}

const findRow = ({ db }: Context, where: Prisma.SubmissionWhereInput): Promise<Row | null> =>
  db.submission.findFirst({ where, include })

type ReportReader = Pick<ResultReport, 'language' | 'timeZone'>

/** Parts of a report that its reader sees. */
type ReportView = ReportReader & {
  name: boolean
  message: boolean
  scripts: boolean
  /** Comments, notes, and levels of rubrics. */
  comments: boolean
  knockOuts: boolean
  /** Source of the points where several graders gave some. */
  graders: boolean
  decision: boolean
}

const OWN_VIEW = {
  name: true,
  message: true,
  scripts: false,
  comments: false,
  knockOuts: false,
  graders: false,
  decision: false,
}

async function viewFor(ctx: Context, { invite, assessment }: Row, audience: ReportAudience): Promise<ReportView> {
  const readsAll = may(ctx, 'read')
  const isForOrganization = audience === 'organization'
  return {
    ...(isForOrganization ? { language: FALLBACK_LANGUAGE, timeZone: 'UTC' } : await findCandidateReader(ctx, invite.id)),
    name: seesNames(ctx, assessment),
    message: readsAll,
    scripts: true,
    comments: readsAll,
    knockOuts: readsAll && isForOrganization,
    graders: isForOrganization,
    decision: may(ctx, 'decide') && isForOrganization,
  }
}

async function findCandidateReader(ctx: Context, inviteId: string): Promise<ReportReader> {
  const where = { ...scopeWhere(ctx), id: inviteId }
  const invite = await ctx.db.invite.findFirstOrThrow({ where, select: readerSelect })
  return { language: chooseCandidateLanguage(ctx.deps.languages, invite), timeZone: zoneOf(invite) }
}

/** @returns null before the first release. */
async function toReport(ctx: Context, row: Row, sees: ReportView): Promise<ResultReport | null> {
  const { id, invite, assessment, paper, releases, startedAt, submittedAt } = row
  const [release] = releases
  if (!release) return null
  const result = toResult(release)
  const grades = new Map(gradesOf(release).map((grade) => [grade.number, grade]))
  return {
    submissionId: id,
    language: sees.language,
    timeZone: sees.timeZone,
    organization: ctx.organization.name,
    assessment: assessment.name,
    candidate: sees.name
      ? { name: invite.recipientName, email: invite.recipientEmail }
      : { name: pseudonymOf({ id }), email: '' },
    acceptedAt: invite.acceptedAt,
    startedAt,
    submittedAt,
    result: sees.knockOuts ? result : { ...result, knockedOut: [] },
    decision:
      sees.decision && row.decidedAt
        ? { name: nameOfDecision(await readDecisionNames(ctx), row.decision), note: row.decisionNote, decidedAt: row.decidedAt }
        : null,
    message: sees.message ? result.message : '',
    questions: paper.map(({ number, script, scriptFormat, sourceLanguage, points }) => {
      const grade = grades.get(number)
      return {
        number,
        script: sees.scripts ? script : '',
        scriptFormat,
        language: sourceLanguage,
        points: grade?.points ?? null,
        ofPoints: grade?.ofPoints ?? points,
        comment: sees.comments ? (grade?.comment ?? '') : '',
        notes: sees.comments ? (grade?.notes ?? []) : [],
        decidedBy: sees.graders ? grade?.decidedBy : undefined,
        rubric: sees.comments ? (grade?.rubric ?? []) : [],
      }
    }),
  }
}

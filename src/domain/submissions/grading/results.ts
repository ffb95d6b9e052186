import { scopeWhere } from '../../../db/queries.ts'
import { anyOf } from '../../../db/query.ts'
import type { Prisma, Release } from '../../../generated/prisma/client.ts'
import { EXPORTED_AT_ONCE, runExport, type WriteBatch } from '../../audit/run-export.ts'
import { authorize, may } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { type ListPage, type PageRequest, readPage } from '../../lists/page.ts'
import { isUuid } from '../../text/uuid.ts'
import { checkInteger, findIssues } from '../../validation/checks.ts'
import { throwIfIssues } from '../../validation/throw-if-issues.ts'
import { newestRelease, newestTotal } from '../newest-release.ts'
import { isResultPart, pseudonymOf, type ResultPart } from '../result-parts.ts'
import { throwSubmissionNotFound } from './graded-submission.ts'
import { percentOf } from './grading-status.ts'
import type { ReleasedGrade } from './release-result.ts'
import { countResults, findResultIds, findResultIdsAfter, type ResultFilter, type ResultOrder } from './result-list.ts'
import { visibleAssessments } from './visible-assessments.ts'

// Released results: the newest version, also while a result is reopened.

export type Result = {
  version: number
  points: number
  ofPoints: number
  /** A whole number; null where there are no points. */
  percent: number | null
  comment: string
  message: string
  toCandidate: boolean
  releasedAt: Date
  /** Name of its band; null: none. */
  band: string | null
  /** Numbers of the questions whose required percentage was missed; empty for clients and candidates. */
  knockedOut: number[]
}

export type OwnResult = Result & { grades: ReleasedGrade[] }

type ReleaseTotal = Omit<Release, 'grades'>

const newestFirst = { orderBy: { version: 'desc' } } satisfies Prisma.Submission$releasesArgs
export function toResult(release: ReleaseTotal): Result {
  const { version, comment, message, toCandidate, createdAt, band, knockedOut } = release
  const [points, ofPoints] = [Number(release.points), Number(release.ofPoints)]
  const percent = percentOf(points, ofPoints)
  return { version, points, ofPoints, percent, comment, message, toCandidate, releasedAt: createdAt, band, knockedOut }
}

export const gradesOf = ({ grades }: Pick<Release, 'grades'>): ReleasedGrade[] => grades as ReleasedGrade[]

const include = {
  invite: { select: { id: true, recipientName: true, recipientEmail: true } },
  assessment: { select: { id: true, name: true, clientSees: true } },
  releases: newestTotal,
  decidedBy: { select: { user: { select: { firstName: true, lastName: true, email: true } } } },
} satisfies Prisma.SubmissionInclude
const detailInclude = {
  ...include,
  paper: { select: { number: true, script: true, scriptFormat: true }, orderBy: { number: 'asc' } },
  releases: newestRelease,
} satisfies Prisma.SubmissionInclude
type Row = Prisma.SubmissionGetPayload<{ include: typeof include }>
type DetailRow = Prisma.SubmissionGetPayload<{ include: typeof detailInclude }>

/** A submission with its result, without answers. */
export type ReleasedResult = Pick<
  Row,
  'id' | 'state' | 'invite' | 'assessment' | 'startedAt' | 'submittedAt' | 'decision' | 'decisionNote' | 'decidedAt' | 'decidedBy'
> & { result: Result }
/** Submission with its result, questions, and released grades. */
export type ReleasedResultDetail = ReleasedResult & Pick<DetailRow, 'paper'> & { grades: ReleasedGrade[] }

/** True if the actor sees the candidates of the results: clients may be shown results without names. */
export const seesNames = (ctx: Context, { clientSees }: { clientSees: string[] }): boolean =>
  may(ctx, 'read') || clientSees.includes('names')

const hideKnockOuts = (ctx: Context, result: Result): Result => (may(ctx, 'read') ? result : { ...result, knockedOut: [] })

/** Hides the candidate from clients who are shown no names. */
const hideName = <R extends Pick<Row, 'id' | 'invite' | 'assessment'>>(ctx: Context, row: R): R =>
  seesNames(ctx, row.assessment)
    ? row
    : { ...row, invite: { ...row.invite, recipientName: pseudonymOf(row), recipientEmail: '' } }

/** Parts of answers that a client sees; empty for others, who read them elsewhere. */
export function partsForClient(ctx: Context, { assessment }: Pick<ReleasedResult, 'assessment'>): ResultPart[] {
  if (may(ctx, 'read')) return []
  const isReadable = (part: ResultPart) => part !== 'transcripts' || may(ctx, 'read_transcripts')
  return assessment.clientSees.filter(isResultPart).filter(isReadable)
}

const RELEASED_LAST_FIRST: ResultOrder = { field: 'releasedAt', direction: 'desc' }

/** A page of released results; clients see those of their assessments. @throws DomainError not_permitted; invalid. */
export function listResults(
  ctx: Context,
  filter: ResultFilter,
  page: PageRequest,
  order: ResultOrder = RELEASED_LAST_FIRST,
): Promise<ListPage<ReleasedResult>> {
  checkFilter(filter)
  return readPage(
    page,
    () => countResults(ctx, filter),
    async (window) => readResults(ctx, await findResultIds(ctx, filter, order, window)),
  )
}

/** Exports the released results that match the filter, in the order of their ids. @throws DomainError not_permitted; invalid; too_many_exports. */
export async function exportResults(ctx: Context, filter: ResultFilter, write: WriteBatch<ReleasedResult>): Promise<void> {
  authorize(ctx, 'export')
  checkFilter(filter)
  const { assessmentId, tagId, decision, band, knockedOut } = filter
  const minPercent = filter.minPercent?.toString()
  const readBatch = async (last?: ReleasedResult) =>
    readResults(ctx, await findResultIdsAfter(ctx, filter, last?.id, EXPORTED_AT_ONCE))
  await runExport(
    ctx,
    { action: 'exported_results', filter: { assessmentId, tagId, minPercent, decision, band, knockedOut } },
    readBatch,
    write,
  )
}

const checkFilter = ({ minPercent }: ResultFilter): void =>
  throwIfIssues(
    minPercent === undefined ? [] : findIssues([['minPercent', checkInteger(minPercent, { minimum: 0, maximum: 100 })]]),
  )

/** In the order of the ids. */
async function readResults(ctx: Context, ids: string[]): Promise<ReleasedResult[]> {
  const rows = await ctx.db.submission.findMany({ where: { ...scopeWhere(ctx), id: anyOf(ids) }, include })
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => {
    const {
      releases: [release],
      ...row
    } = byId.get(id) ?? { releases: [] }
    return release ? [{ ...hideName(ctx, row as Omit<Row, 'releases'>), result: hideKnockOuts(ctx, toResult(release)) }] : []
  })
}

/** Newest released result of an invite that the actor may see; null: none. */
export async function findResult(ctx: Context, inviteId: string): Promise<ReleasedResult | null> {
  if (!may(ctx, 'read') && !may(ctx, 'read_as_client')) return null
  const where = { ...visibleResults(ctx), inviteId }
  const row = await ctx.db.submission.findFirst({ where, include, orderBy: [{ releasedAt: 'desc' }, { id: 'desc' }] })
  const release = row?.releases[0]
  return row && release ? { ...row, result: toResult(release) } : null
}

/** @throws DomainError not_permitted; submission_not_found, also for one without a released result. */
export async function getResult(ctx: Context, id: string): Promise<ReleasedResultDetail> {
  const where = visibleResults(ctx)
  const row = isUuid(id) ? await ctx.db.submission.findFirst({ where: { ...where, id }, include: detailInclude }) : null
  const release = row?.releases[0] ?? throwSubmissionNotFound()
  return {
    ...hideName(ctx, row ?? throwSubmissionNotFound()),
    result: hideKnockOuts(ctx, toResult(release)),
    grades: gradesOf(release),
  }
}

/** The submissions with a released result that the context's actor may see. @throws DomainError not_permitted. */
export const visibleResults = (ctx: Context): Prisma.SubmissionWhereInput => ({
  ...scopeWhere(ctx),
  releasedAt: { not: null },
  ...(!may(ctx, 'read') && { assessment: visibleAssessments(ctx) }),
})

/** Newest released result of a submission, without a permission check; null: none. */
export async function findNewestResult({ db, organization }: Context, submissionId: string): Promise<Result | null> {
  const where = { organizationId: organization.id, submissionId }
  const release = await db.release.findFirst({ where, ...newestFirst, omit: { grades: true } })
  return release && toResult(release)
}

/** Result that the candidate may see; null: none yet. */
export async function findOwnResult({ db, organization }: Context, submissionId: string): Promise<OwnResult | null> {
  const where = { organizationId: organization.id, submissionId }
  const release = await db.release.findFirst({ where, ...newestFirst })
  return release?.toCandidate ? { ...toResult(release), knockedOut: [], grades: gradesOf(release) } : null
}

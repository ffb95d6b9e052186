import { scopeWhere } from '../../db/queries.ts'
import { anyOf } from '../../db/query.ts'
import { insertRows } from '../../db/writes.ts'
import type { Prisma } from '../../generated/prisma/client.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { modeOf } from '../authorization/author.ts'
import { authorize, may } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { MAX_NAME_LENGTH } from '../limits.ts'
import { shareCodeOf } from '../secrets/share-tokens.ts'
import { toResult } from '../submissions/grading/results.ts'
import { newestTotal } from '../submissions/newest-release.ts'
import { isResultPart, RESULT_PARTS, type ResultPart } from '../submissions/result-parts.ts'
import { isUuid } from '../text/uuid.ts'
import { daysAfter } from '../time/days.ts'
import { inTransaction } from '../transaction.ts'
import { checkInteger, checkName, findIssues } from '../validation/checks.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import { isSharing } from './sharing-settings.ts'

// Links to released results, for people without an account. Anybody who has a link may open it, so it ends, and shows points only unless
// the member chose more and the candidates were told.

export const SHARE_DAYS = { minimum: 1, maximum: 90 }
export const DEFAULT_SHARE_DAYS = 7
const MAX_SHARED_RESULTS = 50
const MAX_LISTED = 100
/** First version of the consent text that says that results may be shared. */
export const SHARING_CONSENT_VERSION = 3

/** @property submissionIds submissions with results, all of one assessment. @property receiver name of the person who gets the link. */
export type NewShareLink = {
  submissionIds: string[]
  receiver: string
  shows: string[]
  asksFeedback: boolean
  hasCode: boolean
  days: number
}

const candidateSelect = {
  id: true,
  assessmentId: true,
  assessment: { select: { name: true } },
  consentVersion: true,
  invite: { select: { recipientName: true, recipientEmail: true } },
  releases: newestTotal,
} satisfies Prisma.SubmissionSelect

/** Results to share, the best first. @property isTold true if the candidate was told that results may be shared. */
export type ShareCandidate = { id: string; assessmentId: string; assessment: string; name: string; isTold: boolean }

/** @throws DomainError not_permitted; invalid: `sharingOff`, `noneChosen`, `tooManyShared`, `severalAssessments`. */
export async function findShareCandidates(ctx: Context, submissionIds: string[]): Promise<ShareCandidate[]> {
  authorizeSharing(ctx)
  const ids = [...new Set(submissionIds.filter(isUuid))]
  const refuse = (problem: 'sharingOff' | 'noResults' | 'tooManyShared' | 'severalAssessments', limit?: number) =>
    throwIfIssues([{ field: '', rule: 'account', problem, ...(limit !== undefined && { limit }) }])
  if (!(await isSharing(ctx))) refuse('sharingOff')
  if (ids.length > MAX_SHARED_RESULTS) refuse('tooManyShared', MAX_SHARED_RESULTS)
  const where = { ...scopeWhere(ctx), id: anyOf(ids), releasedAt: { not: null } }
  const found = await ctx.db.submission.findMany({ where, select: candidateSelect })
  if (found.length === 0) refuse('noResults')
  if (new Set(found.map(({ assessmentId }) => assessmentId)).size > 1) refuse('severalAssessments')
  const shareOf = ({ releases: [release] }: (typeof found)[number]) => (release ? (toResult(release).percent ?? -1) : -1)
  return found
    .sort((a, b) => shareOf(b) - shareOf(a) || (a.id < b.id ? -1 : 1))
    .map(({ id, assessmentId, assessment, invite, consentVersion }) => ({
      ...{ id, assessmentId, assessment: assessment.name },
      name: invite.recipientName ?? invite.recipientEmail,
      isTold: (consentVersion ?? 0) >= SHARING_CONSENT_VERSION,
    }))
}

/**
 * Creates a link to results.
 *
 * @returns its id. @throws DomainError not_permitted; invalid: as {@link findShareCandidates}; a field; `notTold` with the number of
 *   candidates whose names, answers, recordings, and transcripts must not be shared.
 */
export async function createShareLink(ctx: Context, input: NewShareLink): Promise<string> {
  const createdById = authorizeSharing(ctx)
  const { receiver, asksFeedback, hasCode, days } = input
  const candidates = await findShareCandidates(ctx, input.submissionIds)
  const shows = RESULT_PARTS.filter((part) => input.shows.includes(part))
  if (shows.includes('transcripts')) authorize(ctx, 'read_transcripts')
  throwIfIssues(
    findIssues([
      ['receiver', checkName(receiver, MAX_NAME_LENGTH)],
      ['days', checkInteger(days, SHARE_DAYS)],
    ]),
  )
  const untold = candidates.filter(({ isTold }) => !isTold).length
  if (shows.length > 0 && untold > 0) throwIfIssues([{ field: 'shows', rule: 'account', problem: 'notTold', limit: untold }])
  const { deps, organization } = ctx
  const id = deps.newId()
  await inTransaction(ctx, async (inside) => {
    const now = deps.clock()
    const scope = { organizationId: organization.id }
    const { assessmentId } = candidates[0]!
    await inside.db.shareLink.create({
      data: {
        ...{ ...scope, id, mode: modeOf(inside), assessmentId, createdById, receiver: receiver.trim(), shows },
        ...{ asksFeedback, hasCode, expiresAt: daysAfter(now, days), createdAt: now },
      },
    })
    const rows = candidates.map(({ id: submissionId }, i) => ({ ...scope, shareLinkId: id, position: i + 1, submissionId }))
    await insertRows(inside.db, { sharedResults: rows }).execute()
    const details = { results: rows.length, shows, until: daysAfter(now, days).toISOString() }
    await recordAudit(inside, { action: 'shared_results', target: { kind: 'share_link', id }, details })
  })
  return id
}

/** @returns the member's id. @throws DomainError not_permitted. */
function authorizeSharing(ctx: Context): string {
  authorize(ctx, 'share_results')
  authorize(ctx, 'decide')
  if (ctx.actor.kind !== 'member') throw new DomainError('not_permitted')
  return ctx.actor.id
}

export const mayShare = (ctx: Context): boolean => may(ctx, 'share_results') && may(ctx, 'decide')

const listInclude = {
  assessment: { select: { name: true } },
  createdBy: { select: { user: true } },
  _count: { select: { results: true } },
} satisfies Prisma.ShareLinkInclude
export type ListedShareLink = Prisma.ShareLinkGetPayload<{ include: typeof listInclude }>

/** The newest. @throws DomainError not_permitted. */
export async function listShareLinks(ctx: Context): Promise<ListedShareLink[]> {
  authorizeSharing(ctx)
  return ctx.db.shareLink.findMany({ where: scopeWhere(ctx), include: listInclude, orderBy: { id: 'desc' }, take: MAX_LISTED })
}

/** State of a link. */
export const stateOfLink = (
  { revokedAt, expiresAt }: { revokedAt: Date | null; expiresAt: Date },
  now: Date,
): 'open' | 'revoked' | 'ended' => (revokedAt ? 'revoked' : expiresAt <= now ? 'ended' : 'open')

export type ShareFeedback = { name: string; submissionId: string; vote: string | null; comment: string; answeredAt: Date | null }
/** @property url secret. @property code null: none. @property openings newest first. */
export type ShareLinkDetail = ListedShareLink & {
  shows: ResultPart[]
  url: string
  code: string | null
  feedback: ShareFeedback[]
  openings: { at: Date; address: string | null; userAgent: string | null }[]
}

/** @throws DomainError not_permitted; share_link_not_found. */
export async function getShareLink(ctx: Context, id: string): Promise<ShareLinkDetail> {
  authorizeSharing(ctx)
  const { db, deps, organization } = ctx
  const where = { ...scopeWhere(ctx), id }
  const found = isUuid(id) ? await db.shareLink.findFirst({ where, include: listInclude }) : null
  if (!found) throw new DomainError('share_link_not_found')
  const results = await db.sharedResult.findMany({
    where: { organizationId: organization.id, shareLinkId: id },
    include: { submission: { select: { id: true, invite: { select: { recipientName: true, recipientEmail: true } } } } },
    orderBy: { position: 'asc' },
  })
  const openings = await db.auditEntry.findMany({
    where: { organizationId: organization.id, targetKind: 'share_link', targetId: id, action: 'opened_share_link' },
    select: { at: true, address: true, userAgent: true },
    orderBy: [{ at: 'desc' }, { id: 'desc' }],
    take: MAX_LISTED,
  })
  return {
    ...found,
    shows: found.shows.filter(isResultPart),
    url: deps.links.shareUrl(id),
    code: found.hasCode ? shareCodeOf(deps.secretKeys, id) : null,
    feedback: results.map(({ submission, vote, comment, answeredAt }) => ({
      ...{ submissionId: submission.id, vote, comment, answeredAt },
      name: submission.invite.recipientName ?? submission.invite.recipientEmail,
    })),
    openings,
  }
}

/** Ends a link at once. Revoking it again changes nothing. @throws DomainError not_permitted; share_link_not_found. */
export async function revokeShareLink(ctx: Context, id: string): Promise<void> {
  await getShareLink(ctx, id)
  await inTransaction(ctx, async (inside) => {
    const where = { ...scopeWhere(inside), id, revokedAt: null }
    const { count } = await inside.db.shareLink.updateMany({ where, data: { revokedAt: inside.deps.clock() } })
    if (count > 0) await recordAudit(inside, { action: 'revoked_share_link', target: { kind: 'share_link', id } })
  })
}

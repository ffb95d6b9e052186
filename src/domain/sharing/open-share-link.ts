import { scopeWhere } from '../../db/queries.ts'
import { anyOf } from '../../db/query.ts'
import { unscopedPrisma } from '../../db/unscoped.ts'
import type { Prisma } from '../../generated/prisma/client.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { type Context, enterOrganization, type ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import { MAX_COMMENT_LENGTH } from '../limits.ts'
import { BRAND } from '../ports/brand.ts'
import { readShareLink } from '../secrets/share-tokens.ts'
import { type Result, toResult } from '../submissions/grading/results.ts'
import type { MediaFile } from '../submissions/media/media.ts'
import { newestTotal } from '../submissions/newest-release.ts'
import { isResultPart, type ResultPart } from '../submissions/result-parts.ts'
import { displayNameOf } from '../text/display-name.ts'
import { inTransaction } from '../transaction.ts'
import { checkText, findIssues } from '../validation/checks.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import { findShownMedia, readShownQuestions, type ShownQuestion } from './shown-questions.ts'

// The receiver's side of a link. Every request looks the link up again, so that revoking it ends its pages and media at once.

const include = {
  organization: { select: { ...BRAND, tier: true } },
  assessment: { select: { name: true } },
  createdBy: { select: { user: true } },
  results: { orderBy: { position: 'asc' } },
} satisfies Prisma.ShareLinkInclude
type Row = Prisma.ShareLinkGetPayload<{ include: typeof include }>

/** An open link, and the context of requests by it. */
export type OpenShareLink = { ctx: Context; link: Omit<Row, 'shows'> & { shows: ResultPart[]; sender: string } }

/**
 * Finds the link of a token. It works until it ends or is revoked, while the organization shares results, and while the member who created
 * it is active.
 *
 * @throws DomainError share_link_not_found, for all other links alike.
 */
export async function openShareLink(service: ServiceContext, token: string): Promise<OpenShareLink> {
  const { db, deps } = service
  const id = readShareLink(deps.secretKeys, token)
  const where = {
    revokedAt: null,
    expiresAt: { gt: deps.clock() },
    createdBy: { status: 'active' },
    organization: { sharesResults: true, suspension: null },
    results: { some: {} },
  } satisfies Prisma.ShareLinkWhereInput
  const found = id === null ? null : await unscopedPrisma(db).shareLink.findFirst({ where: { ...where, id }, include })
  if (!found) throw new DomainError('share_link_not_found')
  const ctx: Context = enterOrganization({ ...service, actor: { kind: 'visitor' } }, found.organization, found.mode)
  return { ctx, link: { ...found, shows: found.shows.filter(isResultPart), sender: displayNameOf(found.createdBy.user) } }
}

/** Records in the audit log that the link was opened. */
export const recordOpening = ({ ctx, link }: OpenShareLink): Promise<void> =>
  recordAudit(ctx, { action: 'opened_share_link', target: { kind: 'share_link', id: link.id } })

/** A shared result. @property name null: hidden. */
export type SharedResultView = Pick<Result, 'points' | 'ofPoints' | 'percent'> & {
  position: number
  name: string | null
  questions: ShownQuestion[]
  vote: string | null
  comment: string
}

/** Results behind a link, in their order. */
export async function readSharedResults({ ctx, link }: OpenShareLink): Promise<SharedResultView[]> {
  const ids = link.results.map(({ submissionId }) => submissionId)
  const questions = await readShownQuestions(ctx, ids, link.shows)
  const found = await ctx.db.submission.findMany({
    where: { ...scopeWhere(ctx), id: anyOf(ids) },
    select: { id: true, invite: { select: { recipientName: true } }, releases: newestTotal },
  })
  return link.results.flatMap(({ position, submissionId, vote, comment }) => {
    const submission = found.find(({ id }) => id === submissionId)
    const release = submission?.releases[0]
    if (!submission || !release) return []
    const { points, ofPoints, percent } = toResult(release)
    const name = link.shows.includes('names') ? submission.invite.recipientName : null
    return [{ position, points, ofPoints, percent, name, questions: questions.get(submissionId) ?? [], vote, comment }]
  })
}

/**
 * Recording or file of an answer, as far as the link shows them.
 *
 * @throws DomainError share_link_not_found for all others.
 */
export async function findSharedMedia({ ctx, link }: OpenShareLink, mediaId: string): Promise<MediaFile> {
  const ids = link.results.map(({ submissionId }) => submissionId)
  const media = await findShownMedia(ctx, ids, mediaId, link.shows)
  if (!media) throw new DomainError('share_link_not_found')
  return media
}

export type NewFeedback = { position: number; vote: string; comment: string }

/**
 * Saves what the receiver thinks of a result.
 *
 * @throws DomainError share_link_not_found if no feedback is asked for, or for an unknown result; invalid: a comment that is too long.
 */
export async function saveFeedback({ ctx, link }: OpenShareLink, { position, vote, comment }: NewFeedback): Promise<void> {
  throwIfIssues(findIssues([['comment', checkText(comment, MAX_COMMENT_LENGTH)]]))
  await inTransaction(ctx, async (inside) => {
    const where = { organizationId: inside.organization.id, shareLinkId: link.id, position }
    const votes = vote === 'up' || vote === 'down' ? vote : null
    const data = { vote: votes, comment, answeredAt: inside.deps.clock() }
    const { count } = link.asksFeedback ? await inside.db.sharedResult.updateMany({ where, data }) : { count: 0 }
    if (count === 0) throw new DomainError('share_link_not_found')
    await recordAudit(inside, { action: 'answered_share_link', target: { kind: 'share_link', id: link.id } })
  })
}

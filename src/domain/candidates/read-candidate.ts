import { sql } from '../../db/builder.ts'
import { type SqlBool, scopeWhere } from '../../db/queries.ts'
import { anyOf } from '../../db/query.ts'
import { authorize, may } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import type { InviteEmailRow } from '../invites/emails.ts'
import { withCurrentStatus } from '../invites/expiry.ts'
import { getInvite, type Invite, type InviteStatus } from '../invites/invites.ts'
import { readTimelineOf, type Timeline } from '../invites/timeline.ts'
import { type Result, toResult } from '../submissions/grading/results.ts'
import { newestTotal } from '../submissions/newest-release.ts'

/** Only the latest invites and mails of a candidate are shown. */
export const MAX_INVITES = 50
export const MAX_MAILS = 50

/** @property result newest released result. */
export type InviteOfCandidate = {
  id: string
  recipientName: string | null
  assessment: string
  attempt: number
  status: InviteStatus
  declinedAt: Date | null
  revokedAt: Date | null
  sentAt: Date
  expiresAt: Date
  submissionId: string | null
  result: Result | null
}
export type CandidateMail = InviteEmailRow & { assessment: string }

/**
 * A candidate, identified by address: invites (latest first), their events, and emails. @property hasMore true if there are more invites.
 */
export type CandidateDetail = {
  email: string
  name: string | null
  invites: InviteOfCandidate[]
  hasMore: boolean
  timeline: Timeline
  mails: CandidateMail[]
}

/**
 * The candidate of an invite, in the data that the actor sees, live or test.
 *
 * @param inviteId any of theirs.
 * @throws DomainError not_permitted, invite_not_found.
 */
export async function readCandidate(ctx: Context, inviteId: string): Promise<CandidateDetail> {
  authorize(ctx, 'read')
  const { recipientEmail: email } = await getInvite(ctx, inviteId)
  const found = await findInvites(ctx, email, MAX_INVITES + 1)
  const invites = found.slice(0, MAX_INVITES)
  const ids = invites.map(({ id }) => id)
  const results = await findResults(ctx, ids)
  const mails = await ctx.db.inviteEmail.findMany({
    where: { organizationId: ctx.organization.id, inviteId: anyOf(ids) },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    take: MAX_MAILS,
  })
  const byId = new Map(invites.map((invite) => [invite.id, invite]))
  return {
    email,
    name: invites.find(({ recipientName }) => recipientName)?.recipientName ?? null,
    invites: invites.map((invite) => ({
      ...withCurrentStatus(invite, ctx.deps.clock()),
      ...(results.get(invite.id) ?? { submissionId: null, result: null }),
    })),
    hasMore: found.length > MAX_INVITES,
    timeline: await readTimelineOf(ctx, ids),
    mails: mails.map((mail) => ({ ...mail, assessment: byId.get(mail.inviteId)!.assessment })),
  }
}

/** The candidate's other invites that the page of one invite lists. */
const MAX_OTHERS = 5

export type OtherInvite = Pick<InviteOfCandidate, 'id' | 'assessment' | 'attempt' | 'status' | 'declinedAt' | 'revokedAt'>

/** The candidate's other invites, latest first. Empty for actors who may not read all invites. */
export async function findOtherInvites(ctx: Context, { id, recipientEmail }: Pick<Invite, 'id' | 'recipientEmail'>) {
  if (!may(ctx, 'read')) return []
  const found = await findInvites(ctx, recipientEmail, MAX_OTHERS + 1)
  const otherInvites = found.filter((invite) => invite.id !== id).slice(0, MAX_OTHERS)
  return otherInvites.map((invite): OtherInvite => withCurrentStatus(invite, ctx.deps.clock()))
}

/** The latest invites to an address, in either case. */
function findInvites(ctx: Context, email: string, most: number) {
  const invitesOfCandidate = ctx.db
    .selectFrom('invites')
    .innerJoin(ctx.db.table('assessments'), (join) =>
      join
        .onRef('assessments.organizationId', '=', 'invites.organizationId')
        .onRef('assessments.id', '=', 'invites.assessmentId'),
    )
    .where(({ ref }) => sql<SqlBool>`address_key(${ref('invites.recipientEmail')}) = address_key(${email})`)
    .select(['invites.id', 'invites.recipientName', 'assessments.name as assessment', 'invites.attempt', 'invites.status'])
    .select(['invites.declinedAt', 'invites.revokedAt', 'invites.sentAt', 'invites.expiresAt', 'invites.updatedAt'])
  return invitesOfCandidate.orderBy('invites.sentAt', 'desc').orderBy('invites.id', 'desc').limit(most).execute()
}

/** Submission and released result of each invite, by its id. */
async function findResults(ctx: Context, inviteIds: string[]) {
  const submissions = await ctx.db.submission.findMany({
    where: { ...scopeWhere(ctx), inviteId: anyOf(inviteIds), startedAt: { not: null } },
    select: { id: true, inviteId: true, releases: newestTotal },
    orderBy: { id: 'asc' },
  })
  return new Map(
    submissions.map(({ id, inviteId, releases: [release] }) => [
      inviteId,
      { submissionId: id, result: release ? toResult(release) : null },
    ]),
  )
}

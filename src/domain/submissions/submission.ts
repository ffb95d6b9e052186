import type { Prisma } from '../../generated/prisma/client.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { MAX_SESSION_NOTES } from '../limits.ts'
import { isUuid } from '../uuid.ts'
import { isBlindTo } from './blind.ts'
import { type Requirement, requirementsOf } from './needs.ts'
import { findNeeds } from './prepared.ts'
import { authorizeSubmission, graderOfInvite } from './visibility.ts'

const include = {
  paper: {
    orderBy: { number: 'asc' },
    include: { takes: { include: { media: true }, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] } },
  },
  media: { where: { kind: { not: 'answer' } }, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] },
  notes: { orderBy: [{ at: 'asc' }, { id: 'asc' }], take: MAX_SESSION_NOTES },
} satisfies Prisma.SubmissionInclude

const shownInvite = {
  id: true,
  status: true,
  recipientEmail: true,
  recipientName: true,
  assessmentSession: true,
  assignedGrader: graderOfInvite,
  assessment: { select: { name: true, gradedBlind: true } },
} satisfies Prisma.InviteSelect

/** All that a candidate has sent in, with the paper as it was. */
export type SubmissionDetail = Prisma.SubmissionGetPayload<{ include: typeof include }>
export type QuestionDetail = SubmissionDetail['paper'][number]
export type TakeDetail = QuestionDetail['takes'][number]
export type SubmittedInvite = Prisma.InviteGetPayload<{ select: typeof shownInvite }>

/**
 * What was sent in for an invite: its own submission, which is none before the candidate has started.
 *
 * @throws DomainError invite_not_found; not_permitted, see authorizeSubmission and blind.ts.
 */
export async function getSubmission(
  ctx: Context,
  inviteId: string,
): Promise<{ invite: SubmittedInvite; submission: SubmissionDetail | null }> {
  const { db, organization } = ctx
  if (!isUuid(inviteId)) throw new DomainError('invite_not_found')
  const organizationId = organization.id
  const invite = await db.invite.findFirst({ where: { organizationId, id: inviteId }, select: shownInvite })
  if (!invite) throw new DomainError('invite_not_found')
  const submission = invite.assessmentSession === null ? null : await findDetail(ctx, { id: invite.assessmentSession, inviteId })
  authorizeSubmission(ctx, invite, submission)
  if (isBlindTo(ctx, invite.assessment)) throw new DomainError('not_permitted')
  return { invite, submission }
}

/** A submission with all there is of it, for whoever asks. */
export const findDetail = (
  { db, organization }: Context,
  { id, inviteId }: { id: string; inviteId: string },
): Promise<SubmissionDetail | null> =>
  db.submission.findFirst({ where: { organizationId: organization.id, id, inviteId }, include })

/** The answer to a question: the complete take that came last; undefined when there is none. */
export const answerOf = <T extends Pick<TakeDetail, 'kind' | 'state' | 'text' | 'completedAt'>>(
  takes: readonly T[],
): T | undefined =>
  takes
    .filter(({ kind, state, text }) => state === 'complete' && (kind !== 'text' || text.trim() !== ''))
    .reduce<T | undefined>((last, take) => (last && time(last) > time(take) ? last : take), undefined)

const time = ({ completedAt }: Pick<TakeDetail, 'completedAt'>): number => completedAt?.getTime() ?? 0

/** What a candidate of the invite has to meet before the start, as the questions are now. */
export const listRequirements = async (ctx: Context, invite: Parameters<typeof findNeeds>[1]): Promise<Requirement[]> =>
  requirementsOf(await findNeeds(ctx, invite, null))

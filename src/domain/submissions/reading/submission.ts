import { scopeWhere } from '../../../db/queries.ts'
import type { Prisma } from '../../../generated/prisma/client.ts'
import { isBlindTo } from '../../assessments/blind-grading.ts'
import type { Context } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { MAX_SESSION_EVENTS } from '../../limits.ts'
import { type ListPage, readPage } from '../../lists/page.ts'
import { isUuid } from '../../text/uuid.ts'
import { findNeeds } from '../find-needs.ts'
import type { MediaFile } from '../media/media.ts'
import { type Requirement, requirementsOf } from '../needs.ts'
import { authorizeSubmission, graderOfInvite } from '../visibility.ts'
import { measureScreen, type ScreenFacts } from './screen-facts.ts'

/** Stills of a page. */
const STILLS_AT_ONCE = 50

const include = {
  paper: {
    orderBy: { number: 'asc' },
    include: {
      version: { select: { responseType: true, spec: true } },
      attempts: { include: { media: true }, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] },
    },
  },
  media: { where: { kind: { notIn: ['answer', 'webcam_still'] } }, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] },
  invite: { select: { screenRecording: true, waivedChecks: true } },
  notes: { orderBy: [{ at: 'asc' }, { id: 'asc' }], take: MAX_SESSION_EVENTS },
} satisfies Prisma.SubmissionInclude

const shownInvite = {
  id: true,
  status: true,
  recipientEmail: true,
  recipientName: true,
  assessmentSession: true,
  assignedGrader: graderOfInvite,
  assessment: { select: { name: true, blindGrading: true } },
} satisfies Prisma.InviteSelect

/** All that a candidate has sent in, with the paper as it was; of the webcam's stills, of which there are many, a page. */
export type SubmissionDetail = Prisma.SubmissionGetPayload<{ include: typeof include }> & {
  stills: ListPage<MediaFile>
  /** Null where the screen was not to be recorded, or must not be seen. */
  screen: ScreenFacts | null
}
export type QuestionDetail = SubmissionDetail['paper'][number]
export type AttemptDetail = QuestionDetail['attempts'][number]
export type SubmittedInvite = Prisma.InviteGetPayload<{ select: typeof shownInvite }>

/**
 * Submission of an invite; null before the start.
 *
 * @param stills page of the webcam pictures.
 * @throws DomainError invite_not_found; not_permitted, see authorizeSubmission and blind-grading.ts.
 */
export async function getSubmission(
  ctx: Context,
  inviteId: string,
  stills = 1,
): Promise<{ invite: SubmittedInvite; submission: SubmissionDetail | null }> {
  const { db } = ctx
  if (!isUuid(inviteId)) throw new DomainError('invite_not_found')
  const invite = await db.invite.findFirst({ where: { ...scopeWhere(ctx), id: inviteId }, select: shownInvite })
  if (!invite) throw new DomainError('invite_not_found')
  const submission =
    invite.assessmentSession === null ? null : await findDetail(ctx, { id: invite.assessmentSession, inviteId }, stills)
  authorizeSubmission(ctx, invite, submission)
  if (isBlindTo(ctx, invite.assessment)) throw new DomainError('not_permitted')
  return { invite, submission }
}

/** Reads a submission with all its details, without a permission check. */
export async function findDetail(
  ctx: Context,
  { id, inviteId }: { id: string; inviteId: string },
  stills = 1,
): Promise<SubmissionDetail | null> {
  const where = { ...scopeWhere(ctx), id, inviteId }
  const submission = await ctx.db.submission.findFirst({ where, include })
  if (!submission) return null
  return { ...submission, stills: await listStills(ctx, id, stills), screen: measureScreen(submission, ctx.deps.clock()) }
}

/** Ready pictures, oldest first. */
function listStills({ db, organization }: Context, submissionId: string, number: number): Promise<ListPage<MediaFile>> {
  const where = { organizationId: organization.id, submissionId, kind: 'webcam_still', state: 'ready' } as const
  return readPage(
    { number, size: STILLS_AT_ONCE },
    () => db.mediaFile.count({ where }),
    (window) => db.mediaFile.findMany({ where, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }], ...window }),
  )
}

/** Requirements before the start, by the current questions. */
export const listRequirements = async (ctx: Context, invite: Parameters<typeof findNeeds>[1]): Promise<Requirement[]> =>
  requirementsOf(await findNeeds(ctx, invite, null))

import { scopeWhere } from '../../../db/queries.ts'
import { Prisma } from '../../../generated/prisma/client.ts'
import { isBlindTo } from '../../assessments/blind-grading.ts'
import type { Context } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { MAX_SESSION_EVENTS } from '../../limits.ts'
import { listPage, pickColumns, projectionOf, type RowOf } from '../../lists/listing.ts'
import type { ListPage } from '../../lists/page.ts'
import { isUuid } from '../../text/uuid.ts'
import { findNeeds } from '../find-needs.ts'
import { type Requirement, requirementsOf } from '../needs.ts'
import { findTranscripts, type Transcript } from '../transcripts/read-transcripts.ts'
import { authorizeSubmission, graderOfInvite, gradersOfAnswers } from '../visibility.ts'
import { measureScreen, type ScreenFacts } from './screen-facts.ts'

/** Stills of a page. */
const STILLS_AT_ONCE = 50

const include = {
  paper: {
    orderBy: { number: 'asc' },
    include: {
      version: { select: { responseType: true, spec: true } },
      attempts: {
        include: { media: true, files: { orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] } },
        orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
      },
    },
  },
  media: { where: { kind: { notIn: ['answer', 'webcam_still'] } }, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] },
  invite: { select: { screenRecording: true, waivedChecks: true } },
  notes: { orderBy: [{ at: 'asc' }, { id: 'asc' }], take: MAX_SESSION_EVENTS },
  gradingAssignments: gradersOfAnswers,
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

/** A whole submission with its paper, and one page of the webcam's stills, which are many. */
export type SubmissionDetail = Omit<FoundSubmission, 'paper'> & {
  paper: (Omit<FoundQuestion, 'attempts'> & { attempts: (FoundQuestion['attempts'][number] & WithTranscript)[] })[]
  stills: ListPage<RowOf<typeof stillProjection>>
  /** Null if no screen recording was required, or if the actor may not see it. */
  screen: ScreenFacts | null
}
type FoundSubmission = Prisma.SubmissionGetPayload<{ include: typeof include }>
type FoundQuestion = FoundSubmission['paper'][number]
/** @property transcript null if there is none, or if the actor may not read it. */
type WithTranscript = { transcript: Transcript | null }
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
  const transcripts = await findTranscripts(ctx, id)
  const paper = submission.paper.map((question) => ({
    ...question,
    attempts: question.attempts.map((attempt) => ({ ...attempt, transcript: transcripts.get(attempt.mediaId ?? '') ?? null })),
  }))
  return { ...submission, paper, stills: await listStills(ctx, id, stills), screen: measureScreen(submission, ctx.deps.clock()) }
}

const stillProjection = pickColumns(projectionOf('mediaFiles', Prisma.MediaFileScalarFieldEnum), ['id', 'createdAt'])
const mediaList = { table: 'mediaFiles', filters: { submissionId: '=', kind: '=', state: '=' } } as const

/** Ready pictures, oldest first. */
const listStills = (ctx: Context, submissionId: string, number: number): Promise<ListPage<RowOf<typeof stillProjection>>> =>
  listPage(ctx, mediaList, {
    projection: stillProjection,
    filter: { submissionId, kind: 'webcam_still', state: 'ready' },
    order: { field: 'createdAt', direction: 'asc' },
    page: { number, size: STILLS_AT_ONCE },
  })

/** Requirements before the start, by the current questions. */
export const listRequirements = async (ctx: Context, invite: Parameters<typeof findNeeds>[1]): Promise<Requirement[]> =>
  requirementsOf(await findNeeds(ctx, invite, null))

import type { Context } from '../domain/context.ts'
import type { InviteStatus } from '../domain/invites/invites.ts'
import { revokeInvite } from '../domain/invites/operate-invite.ts'
import {
  type AcceptedInvite,
  assignGraders,
  type Graders,
  type GradingStage,
  giveDemoConsent,
  gradingSteps,
  ONE_GRADER,
  RUBRIC,
  TWO_GRADERS,
  takeAssessment,
} from './past-submissions.ts'
import { type DemoStep, replaySteps } from './replay-steps.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** The oldest ones are all completed, so that there are results to compare. */
const INVITES = 53
const COMPARED_INVITES = 4
const FIRST_NAMES = ['Amara', 'Ben', 'Chloé', 'Dilan', 'Elena', 'Farid', 'Grace', 'Hugo', 'Ines', 'Jonas']
const LAST_NAMES = ['Adeyemi', 'Berg', 'Costa', 'Duarte', 'Eriksen', 'Fischer']
/** States of invites from newest to oldest, repeated. An invite too recent to be expired is pending. */
const STATES = [
  ...['pending', 'completed', 'accepted', 'expired', 'started', 'expired', 'completed', 'revoked'],
  ...['pending', 'expired', 'accepted', 'pending', 'expired', 'accepted', 'completed', 'revoked'],
] as InviteStatus[]
/** Index of the pending invites whose mail was refused. */
const BOUNCED_STATE = STATES.indexOf('pending', 1)
/** Submissions from newest to oldest, without those to compare. */
const SUBMISSIONS: [AcceptedInvite['assessment'], GradingStage][] = [
  [ONE_GRADER, 'ungraded'],
  [TWO_GRADERS, 'ungraded'],
  [ONE_GRADER, 'inPart'],
  [TWO_GRADERS, 'byOne'],
  [ONE_GRADER, 'graded'],
  [TWO_GRADERS, 'undecided'],
  [ONE_GRADER, 'reopened'],
  [TWO_GRADERS, 'decided'],
  [ONE_GRADER, 'releasedAnew'],
]
/** Started assessments are revoked after this time. */
const ABANDONED_AFTER_MS = 5 * DAY_MS

type Assessments = readonly { id: string; name: string }[]
type PastInvite = ReturnType<typeof pastInvite>

/**
 * Creates invites of the last month in every state, with submissions, grades, and mails, some of which failed. Invites and mails are inserted
 * directly, because nobody is behind the addresses. Actions of candidates and graders run through the domain's functions, with the clock set back.
 */
export async function addPastInvites(
  ctx: Context,
  { assessments, graders, createdById }: { assessments: Assessments; graders: Graders; createdById: string },
): Promise<void> {
  const { db, organization } = ctx
  const organizationId = organization.id
  const where = { organizationId, id: idOf(assessments, TWO_GRADERS) }
  await db.assessment.updateMany({ where, data: { secondGrader: true } })
  // Oldest first, so that time-ordered ids match.
  const places = Array.from({ length: INVITES }, (_, n) => INVITES - 1 - n)
  const invites = places.map((i) => pastInvite(ctx, i, { assessments, graders }))
  await db.invite.createMany({ data: invites.map(({ row }) => ({ ...row, organizationId, createdById })) })
  await db.inviteEmail.createMany({ data: invites.map((invite) => createMailRow(ctx, invite)) })
  await replaySteps(
    ctx,
    invites.flatMap((invite) => listSteps(invite, graders)),
  )
}

const idOf = (assessments: Assessments, name: string): string => assessments.find((assessment) => assessment.name === name)!.id

/**
 * Plans an invite's status and times. Invites with a submission are inserted as accepted; the replayed steps start and complete them.
 *
 * @param i number of newer invites.
 * @returns movedAt: time of the one change of status that is inserted; startsAt: of the candidate's start.
 */
function planInvite(now: number, i: number) {
  const age = (i * 0.58 + 0.2) * DAY_MS
  const sentAt = now - age
  const step = Math.min(age / 4, 9 * HOUR_MS)
  const wanted = isCompared(i) ? 'completed' : STATES[i % STATES.length]!
  const status = wanted === 'expired' && age < 8 * DAY_MS ? 'pending' : wanted
  const submission = planSubmission(status, i)
  const times = { sentAt: new Date(sentAt), movedAt: new Date(sentAt + step), startsAt: sentAt + 2 * step }
  return { status: submission ? 'accepted' : status, submission, ...times }
}

function pastInvite({ deps }: Context, i: number, { assessments, graders }: { assessments: Assessments; graders: Graders }) {
  const now = deps.clock().getTime()
  const { status, submission, sentAt, movedAt, startsAt } = planInvite(now, i)
  const firstName = FIRST_NAMES[i % FIRST_NAMES.length]!
  const lastName = LAST_NAMES[Math.floor(i / FIRST_NAMES.length)]!
  const expiresAt = new Date(sentAt.getTime() + (status === 'expired' ? 7 : 30) * DAY_MS)
  const movedTo = (state: InviteStatus) => (status === state ? movedAt : null)
  const isDeclined = i % STATES.length === STATES.length - 1
  const row = {
    id: deps.newId(),
    assessmentId: submission ? idOf(assessments, submission.assessment) : assessments[i % assessments.length]!.id,
    recipientName: `${firstName} ${lastName}`,
    recipientEmail: `${firstName}.${lastName}@example.com`.toLowerCase().replace('é', 'e'),
    status,
    mode: 'live' as const,
    questionReplayLimit: 1,
    answerRecordLimit: 1,
    screenRecording: false,
    webcamMonitoring: false,
    requireIdCapture: false,
    facePhotoRequired: false,
    assignedGraderId: submission?.isAssigned ? assignGraders(graders, submission.n)[0].id : null,
    sentAt,
    expiresAt,
    acceptedAt: movedTo('accepted'),
    revokedAt: movedTo('revoked'),
    declinedAt: isDeclined ? movedTo('revoked') : null,
    createdAt: sentAt,
    updatedAt: { pending: sentAt, expired: expiresAt }[status as string] ?? movedAt,
  }
  return { row, i, submission, now, startsAt }
}

const isCompared = (i: number): boolean => i >= INVITES - COMPARED_INVITES

type PastSubmission = Omit<AcceptedInvite, 'inviteId'> & { stage: GradingStage | null; isAssigned: boolean }

/** The submission of a started or completed invite. The newest one has no grader yet. */
function planSubmission(status: InviteStatus, i: number): PastSubmission | null {
  if (status === 'started') return { assessment: ONE_GRADER, n: i, stage: null, isAssigned: false }
  if (status !== 'completed') return null
  if (isCompared(i)) return { assessment: RUBRIC, n: INVITES - 1 - i, stage: 'chosen', isAssigned: true }
  const n = Array.from({ length: i }).filter((_, newer) => STATES[newer % STATES.length] === 'completed').length
  const [assessment, stage] = SUBMISSIONS[n]!
  return { assessment, n, stage, isAssigned: n > 0 }
}

/** Steps after an invite was accepted. */
function listSteps({ row, i, submission, now, startsAt }: PastInvite, graders: Graders): DemoStep[] {
  if (!submission)
    return row.status === 'accepted' && i % 4 === 2 ? [{ at: startsAt, run: (ctx) => giveDemoConsent(ctx, row.id) }] : []
  const { stage } = submission
  const accepted = { inviteId: row.id, ...submission }
  const take = { at: startsAt, run: (ctx: Context) => takeAssessment(ctx, accepted, stage ? undefined : 1) }
  if (stage) return [take, ...gradingSteps(accepted, stage, graders, startsAt + HOUR_MS)]
  const withdrawnAt = startsAt + ABANDONED_AFTER_MS
  return withdrawnAt < now ? [take, { at: withdrawnAt, run: (ctx) => withdraw(ctx, row.id) }] : [take]
}

/** Revokes a started invite, and withdraws its submission as the sweep would soon. */
async function withdraw(ctx: Context, inviteId: string): Promise<void> {
  await revokeInvite(ctx, inviteId)
  const where = { organizationId: ctx.organization.id, inviteId, state: 'in_progress' } as const
  await ctx.db.submission.updateMany({ where, data: { state: 'withdrawn', updatedAt: ctx.deps.clock() } })
}

function createMailRow({ deps, organization }: Context, { row: { id, createdAt }, i }: PastInvite) {
  const hasFailed = i % STATES.length === BOUNCED_STATE
  const outcome = hasFailed
    ? { state: 'failed' as const, failure: 'refused' as const, reason: '550 5.1.1 There is no such mailbox', sentAt: null }
    : { state: 'captured' as const, sentAt: createdAt }
  const times = { createdAt, updatedAt: createdAt }
  return { id: deps.newId(), organizationId: organization.id, inviteId: id, linkVersion: 1, attempts: 1, ...times, ...outcome }
}

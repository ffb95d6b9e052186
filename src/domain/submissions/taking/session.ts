import type { Condition, Expressions } from '../../../db/queries.ts'
import { scopeWhere } from '../../../db/queries.ts'
import type { Submission, SubmissionState } from '../../../generated/prisma/client.ts'
import type { Context, ServiceContext } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { type CandidateInvite, findInvitation, toCandidateContext } from '../../invites/candidate-moves.ts'
import type { InvitationRef } from '../../secrets/invitation-tokens.ts'
import { refuseSession } from './refuse-session.ts'

export type { Submission }

/** Candidate with their invite and submission; the submission is null before consent, and for invites that were started elsewhere. */
export type CandidateSession = {
  ctx: Context
  invite: CandidateInvite
  submission: Submission | null
  /** Tab of the browser; null for forms without scripts. */
  tab: string | null
  /** UUID that the browser repeats when it retries a request; null if it sent none. */
  idempotencyKey: string | null
}
/** The session of a candidate who has consented. */
export type PreparedSession = CandidateSession & { submission: Submission }

/** Enters by the link. It changes nothing. @throws DomainError invite_not_found. */
export async function enterSession(service: ServiceContext, ref: InvitationRef): Promise<CandidateSession> {
  const session = await findSession(service, ref)
  if (!session) throw new DomainError('invite_not_found')
  return session
}

/** Enters by the link in the same way. @returns null where it leads to no invite, or no longer. */
export async function findSession(service: ServiceContext, ref: InvitationRef): Promise<CandidateSession | null> {
  const invite = await findInvitation(service, ref)
  if (!invite) return null
  const ctx = toCandidateContext(service, invite)
  return { ctx, invite, submission: await findOwnSubmission(ctx, invite), tab: null, idempotencyKey: null }
}

/** The invite's current submission: the one that its session names or, before the start, the one in preparation. */
export async function findOwnSubmission(
  ctx: Context,
  invite: Pick<CandidateInvite, 'id' | 'status' | 'assessmentSession'>,
): Promise<Submission | null> {
  const key = { ...scopeWhere(ctx), inviteId: invite.id }
  if (invite.status === 'pending' || invite.status === 'accepted')
    return ctx.db.submission.findFirst({ where: { ...key, state: 'preparing' } })
  if (invite.assessmentSession === null) return null
  return ctx.db.submission.findFirst({ where: { ...key, id: invite.assessmentSession } })
}

/** @throws DomainError session_refused (closed) before consent. */
export function requirePrepared(session: CandidateSession): asserts session is PreparedSession {
  if (!session.submission) refuseSession('closed')
}

/**
 * Admits the candidate's most recently opened tab only.
 *
 * @param idempotencyKey see {@link CandidateSession}. @returns the tab's session. Its writes fail once another tab is opened, see {@link
 *   writableBy}.
 * @throws DomainError session_refused (taken_over), also for requests without a tab.
 */
export function bindToTab(
  session: PreparedSession,
  named: string | undefined,
  idempotencyKey: string | null = null,
): PreparedSession {
  const tab = named?.toLowerCase()
  if (tab === undefined || session.submission.tab !== tab) return refuseSession('taken_over')
  return { ...session, tab, idempotencyKey }
}

/** States in which the candidate may write. */
type Writable = 'preparing' | 'in_progress'

/** SQL condition: the submission is in progress in the session's tab. Writers lock it first. */
export const writableBy =
  ({ tab }: CandidateSession, state: Writable = 'in_progress') =>
  (eb: Expressions<'submissions'>): Condition =>
    eb.and([eb('submissions.state', '=', state), ...(tab === null ? [] : [eb('submissions.tab', '=', tab)])])

/**
 * Locks the submission, so that each of several simultaneous requests sees the changes of the previous one.
 *
 * @throws as {@link refuseUnlessWritable}.
 */
export async function lockSubmission(session: PreparedSession, state: Writable = 'in_progress'): Promise<void> {
  const { ctx, submission } = session
  const writable = ctx.db.selectFrom('submissions').where('submissions.id', '=', submission.id).where(writableBy(session, state))
  if (!(await writable.select('submissions.id').forNoKeyUpdate().executeTakeFirst())) await refuseUnlessWritable(session, state)
}

/** @throws DomainError session_refused (submitted, closed, taken_over) if the submission is not writable any more. */
export async function refuseUnlessWritable(
  { ctx, submission: { id }, tab }: PreparedSession,
  state: Writable = 'in_progress',
): Promise<void> {
  const now = await ctx.db.submission.findFirstOrThrow({ where: { ...scopeWhere(ctx), id } })
  if (now.state !== state) refuseSession(isSubmitted(now.state) ? 'submitted' : 'closed')
  if (tab !== null && now.tab !== tab) refuseSession('taken_over')
}

export const isSubmitted = (state: SubmissionState): boolean => state === 'submitted' || state === 'released'

/** @throws DomainError session_refused: closed before the start and once the invite was withdrawn, submitted after the end. */
export function requireInProgress(session: CandidateSession): asserts session is PreparedSession {
  requirePrepared(session)
  const { invite, submission } = session
  if (isSubmitted(submission.state)) refuseSession('submitted')
  if (submission.state !== 'in_progress' || invite.status !== 'started') refuseSession('closed')
}

import type { Submission } from '../../generated/prisma/client.ts'
import type { Context, ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import { asCandidate, type CandidateInvite, findInvitation } from '../invites/candidate.ts'
import type { InvitationRef } from '../invites/tokens.ts'
import { refuseSession } from './refusals.ts'

export type { Submission }

/** A candidate with their invite, and what they send in; null before consent, and of invites that were started without any. */
export type Session = { ctx: Context; invite: CandidateInvite; submission: Submission | null }
/** The same of a candidate who has consented. */
export type PreparedSession = Session & { submission: Submission }

/** Enters by the link. It changes nothing. @throws DomainError invite_not_found. */
export async function enterSession(service: ServiceContext, ref: InvitationRef): Promise<Session> {
  const invite = await findInvitation(service, ref)
  if (!invite) throw new DomainError('invite_not_found')
  const ctx = asCandidate(service, invite)
  return { ctx, invite, submission: await findOwnSubmission(ctx, invite) }
}

/** An invite's own submission is the one that its session names or, before the start, the one in preparation. */
export async function findOwnSubmission(
  { db, organization }: Context,
  invite: Pick<CandidateInvite, 'id' | 'status' | 'assessmentSession'>,
): Promise<Submission | null> {
  const own = { organizationId: organization.id, inviteId: invite.id }
  if (invite.status === 'pending' || invite.status === 'accepted')
    return db.submission.findFirst({ where: { ...own, state: 'preparing' } })
  if (invite.assessmentSession === null) return null
  return db.submission.findFirst({ where: { ...own, id: invite.assessmentSession } })
}

/** @throws DomainError session_refused (closed) before consent. */
export function requirePrepared(session: Session): asserts session is PreparedSession {
  if (!session.submission) refuseSession('closed')
}

/**
 * Lets in only the tab that the candidate has opened last.
 *
 * @throws DomainError session_refused (taken_over); a request that names none is of no tab either.
 */
export function requireTab({ submission }: PreparedSession, tab: string | undefined): void {
  if (tab === undefined || submission.tab !== tab.toLowerCase()) refuseSession('taken_over')
}

/** @throws DomainError session_refused: closed before the start and once the invite was withdrawn, submitted after the end. */
export function requireInProgress(session: Session): asserts session is PreparedSession {
  requirePrepared(session)
  const { invite, submission } = session
  if (submission.state === 'submitted' || submission.state === 'released') refuseSession('submitted')
  if (submission.state !== 'in_progress' || invite.status !== 'started') refuseSession('closed')
}

import { authorize } from '../authorization/permissions.ts'
import { createKeyedLimiter } from '../concurrency/work-queues.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { getInvite, type InviteDetail } from '../invites/invites.ts'
import { acceptInvite, declineInvite, startAssessment, submitAnswers } from './simulate-candidate.ts'
import { expireInvite } from './simulate-clock.ts'
import { gradeAnswers, releaseGrades } from './simulate-grader.ts'
import { bounceMail, complainAboutMail, remindCandidate, unsubscribeFromMails } from './simulate-mail-server.ts'
import { checkSimulatedAnswers, type SimulatedAnswers } from './simulated-answers.ts'

// Simulates candidates, graders, time, and mail servers for a test invite. It calls the same functions in their names, so rules,
// events, and webhooks are the real ones.

export const SIMULATIONS = [
  'accept',
  'start',
  'complete',
  'grade',
  'release',
  'decline',
  'expire',
  'remind',
  'bounce',
  'complain',
  'unsubscribe',
] as const
export type Simulation = (typeof SIMULATIONS)[number]

const simulations: Record<Simulation, (ctx: Context, invite: InviteDetail, answers: SimulatedAnswers) => Promise<void>> = {
  accept: acceptInvite,
  start: startAssessment,
  complete: submitAnswers,
  async grade(ctx, invite, answers) {
    await submitAnswers(ctx, invite, answers)
    await gradeAnswers(ctx, invite, answers)
  },
  async release(ctx, invite, answers) {
    await submitAnswers(ctx, invite, answers)
    await gradeAnswers(ctx, invite, answers)
    await releaseGrades(ctx, invite)
  },
  decline: declineInvite,
  expire: expireInvite,
  remind: remindCandidate,
  bounce: bounceMail,
  complain: complainAboutMail,
  unsubscribe: unsubscribeFromMails,
}

/** Milliseconds after which a client should rather ask again later. */
const LONGEST_WAIT_MS = 10_000
const refusal = () => new DomainError('too_many_simulations')
/**
 * One at a time of an organization: each is as much as a candidate does in an hour, and of two candidates of one invite each would take it
 * from the other.
 */
const keyedLimiter = createKeyedLimiter(1, { waiting: 20, longest: LONGEST_WAIT_MS, refusal })

/**
 * Brings a test invite to the target state of the action, including all steps before it. Finished steps stay, so that it can be repeated.
 * Runs many transactions: a failure may leave some steps done.
 *
 * @param ctx outside a transaction. @throws DomainError not_permitted outside of test mode; invite_not_found; move_not_allowed if the state
 *   can't be reached; graders_missing; submission_not_found if it is taken in another player; invalid for answers and grades that don't
 *   fit; session_refused if another process simulates it; too_many_simulations.
 */
export async function simulate(
  ctx: Context,
  inviteId: string,
  action: Simulation,
  answers: SimulatedAnswers,
): Promise<InviteDetail> {
  authorize(ctx, 'operate_invites')
  if (ctx.mode !== 'test') throw new DomainError('not_permitted')
  const work = async () => {
    const invite = await getInvite(ctx, inviteId)
    await checkSimulatedAnswers(ctx, invite, answers)
    await simulations[action](ctx, invite, answers)
    return getInvite(ctx, inviteId)
  }
  return keyedLimiter(ctx.organization.id, work, ctx.signal)
}

import type { FastifyReply, FastifyRequest } from 'fastify'
import { findErasureOfInvite } from '../../../domain/erasure/erasures.ts'
import { DomainError } from '../../../domain/errors.ts'
import { pathOf } from '../kit/layout.ts'
import { ERASURES } from './erasure.page.ts'

export type CandidateRoute = { Params: { inviteId: string } }

/** Runs `work`, and leads to the receipt if the candidate was erased meanwhile, such as in another tab. @throws other errors of `work`. */
export async function orRedirectToReceipt(
  { ctx, params }: FastifyRequest<CandidateRoute>,
  reply: FastifyReply,
  work: () => Promise<FastifyReply>,
): Promise<FastifyReply> {
  try {
    return await work()
  } catch (error) {
    const isGone = error instanceof DomainError && error.kind === 'invite_not_found'
    const id = isGone ? await findErasureOfInvite(ctx, params.inviteId) : null
    if (id === null) throw error
    return reply.redirect(`${pathOf(ctx, `${ERASURES}/${id}`)}?done=already`, 303)
  }
}

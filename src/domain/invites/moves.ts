import { randomUUID } from 'node:crypto'
import type { InviteStatus, Prisma } from '../../generated/prisma/client.ts'

/** A transition from one of several states. */
export type Move = 'accept' | 'start' | 'complete' | 'revoke' | 'reactivate' | 'extend' | 'resend'

type Rule = {
  from: readonly InviteStatus[]
  /** undefined: the state stays. */
  to?: InviteStatus
  /** What the move sets and clears besides the state. An expiry is the caller's, see moveInvite. */
  stamp?: (now: Date) => Prisma.InviteUncheckedUpdateManyInput
}

/** Every move of an invite, whoever makes it. Creation (none -> pending) is in create.ts, expiry in lifecycle.ts. */
export const moves: Record<Move, Rule> = {
  // By the candidate.
  accept: { from: ['pending'], to: 'accepted', stamp: (now) => ({ acceptedAt: now }) },
  start: { from: ['accepted'], to: 'started', stamp: (now) => ({ startedAt: now, assessmentSession: randomUUID() }) },
  complete: { from: ['started'], to: 'completed', stamp: (now) => ({ completedAt: now }) },
  // By the organization, or by the candidate who declines.
  revoke: { from: ['pending', 'accepted', 'started'], to: 'revoked', stamp: (now) => ({ revokedAt: now }) },
  // By the organization.
  reactivate: {
    from: ['expired', 'revoked'],
    to: 'pending',
    stamp: (now) => ({
      linkVersion: { increment: 1 }, // earlier links stop working
      sentAt: now,
      acceptedAt: null,
      startedAt: null,
      completedAt: null,
      revokedAt: null,
      assessmentSession: null,
    }),
  },
  extend: { from: ['pending', 'accepted'] },
  resend: { from: ['pending', 'accepted', 'started'] },
}

/** Whether an invite in this state may make the move. */
export const mayMove = (move: Move, status: InviteStatus): boolean => moves[move].from.includes(status)

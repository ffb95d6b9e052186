import { randomUUID } from 'node:crypto'
import type { InviteStatus, Prisma } from '../../generated/prisma/client.ts'
import type { Move } from '../errors.ts'
import { type CreateInviteEvent, inviteEvents } from '../events/event.ts'

type MoveRule = {
  from: readonly InviteStatus[]
  /** undefined: the state stays. */
  to?: InviteStatus
  /** Columns that the move sets in addition to the status. The caller sets an expiry, see moveInvite. */
  stamp?: (now: Date) => Prisma.InviteUncheckedUpdateManyInput
  event: CreateInviteEvent
}

const end = { from: ['pending', 'accepted', 'started'], to: 'revoked' } as const

/** Every move of an invite by any actor. Creation (none -> pending) is in create-invite.ts, expiry in move-invite.ts. */
export const ALLOWED_MOVES: Record<Move, MoveRule> = {
  // By the candidate.
  accept: { from: ['pending'], to: 'accepted', stamp: (now) => ({ acceptedAt: now }), event: inviteEvents.accepted },
  start: {
    from: ['accepted'],
    to: 'started',
    stamp: (now) => ({ startedAt: now, assessmentSession: randomUUID() }),
    event: inviteEvents.started,
  },
  complete: { from: ['started'], to: 'completed', stamp: (now) => ({ completedAt: now }), event: inviteEvents.completed },
  decline: { ...end, stamp: (now) => ({ revokedAt: now, declinedAt: now }), event: inviteEvents.declined },
  // By the organization.
  revoke: { ...end, stamp: (now) => ({ revokedAt: now, declinedAt: null }), event: inviteEvents.revoked },
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
      declinedAt: null,
      assessmentSession: null,
    }),
    event: inviteEvents.reactivated,
  },
  extend: { from: ['pending', 'accepted'], event: inviteEvents.extended },
  resend: { from: ['pending', 'accepted', 'started'], event: inviteEvents.resent },
}

export const mayMove = (move: Move, status: InviteStatus): boolean => ALLOWED_MOVES[move].from.includes(status)

import type { Connection } from '../../db/client.ts'
import { type Invite as InviteRow, type InviteStatus, Prisma } from '../../generated/prisma/client.ts'
import type { Context, ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import { inviteEvents, type TellInvite, type ToldInvite, toldColumns } from '../events/event.ts'
import { recordEvents } from '../events/record.ts'
import { inTransaction } from '../transaction.ts'

// The states of an invite, and what moves it from one to another. Creation (none -> pending) is in create.ts.

/** A way from some states into one. */
export type Move = 'accept' | 'start' | 'complete' | 'decline' | 'revoke' | 'reactivate' | 'extend' | 'resend'

type Rule = {
  from: readonly InviteStatus[]
  /** undefined: the state stays. */
  to?: InviteStatus
  event: TellInvite
}

const moves = {
  // By the candidate.
  accept: { from: ['pending'], to: 'accepted', event: inviteEvents.accepted },
  start: { from: ['accepted'], to: 'started', event: inviteEvents.started },
  complete: { from: ['started'], to: 'completed', event: inviteEvents.completed },
  decline: { from: ['pending', 'accepted', 'started'], to: 'revoked', event: inviteEvents.declined },
  // By the organization.
  revoke: { from: ['pending', 'accepted', 'started'], to: 'revoked', event: inviteEvents.revoked },
  reactivate: { from: ['expired', 'revoked'], to: 'pending', event: inviteEvents.reactivated },
  extend: { from: ['pending', 'accepted'], event: inviteEvents.extended },
  resend: { from: ['pending', 'accepted', 'started'], event: inviteEvents.resent },
} as const satisfies Record<Move, Rule>

/** The states that the clock ends: pending, accepted -> expired, when now >= expiresAt. A started invite does not expire. */
const EXPIRING = ['pending', 'accepted'] as const satisfies InviteStatus[]

type Expirable = { status: InviteStatus; expiresAt: Date; updatedAt: Date }

/** An invite as it is at this instant, whether or not its row has been flipped to expired yet. */
export function asOfNow<T extends Expirable>(invite: T, now: Date): T {
  const due = EXPIRING.some((status) => status === invite.status) && invite.expiresAt <= now
  return due ? { ...invite, status: 'expired', updatedAt: invite.expiresAt } : invite
}

/** Written out, not as parameters: only so PostgreSQL knows the index of those that can expire. */
const expiring = Prisma.sql`status IN ('pending', 'accepted')`

/** SQL: the status of an invite as it is at this instant, whether or not its row has been flipped to expired yet. */
export const statusAt = (now: Date): Prisma.Sql =>
  Prisma.sql`CASE WHEN ${expiring} AND expires_at <= ${now} THEN 'expired' ELSE status END`

/** SQL: when the clock ends the next of the organization's invites, past or to come; null when there is none. One entry of an index. */
export const nextExpiry = ({ organization }: Pick<Context, 'organization'>): Prisma.Sql =>
  Prisma.sql`SELECT min(expires_at) FROM invites WHERE organization_id = ${organization.id}::uuid AND ${expiring}`

/** The flips under way, by organization: lists that are asked for at the same time share one. */
const flips = new WeakMap<Connection, Map<string, Promise<number>>>()

/**
 * Flips the organization's due invites to expired, so that filter, order and count of a list are those of this instant; all but those
 * that another transaction holds.
 */
export async function expireDueInvites(ctx: Context): Promise<void> {
  const { id } = ctx.organization
  const underWay = flips.get(ctx.db) ?? new Map<string, Promise<number>>()
  flips.set(ctx.db, underWay)
  const flip = () => flipDue(ctx, Prisma.sql`organization_id = ${id}::uuid AND ${expiring}`).finally(() => underWay.delete(id))
  const shared = underWay.get(id) ?? flip()
  underWay.set(id, shared)
  await shared
}

/** The same for all organizations, for the scheduled sweep. @returns how many were flipped. */
export const expireAllDueInvites = (ctx: ServiceContext): Promise<number> => flipDue(ctx, expiring)

/** Invites a statement: a campaign whose invites all end at once is more than one statement has time for. */
const FLIPPED_AT_ONCE = 2_000

async function flipDue(ctx: ServiceContext, which: Prisma.Sql): Promise<number> {
  for (let flipped = 0; ; ) {
    const count = await inTransaction(ctx, (inside) => flipSome(inside, which))
    flipped += count
    if (count < FLIPPED_AT_ONCE) return flipped
  }
}

async function flipSome(ctx: ServiceContext, which: Prisma.Sql): Promise<number> {
  // What another transaction holds is not waited for: two that flip at once can't block each other, whatever the order of the rows.
  const flipped = await ctx.db.$queryRaw<ToldInvite[]>`
    WITH due AS MATERIALIZED (
      SELECT id FROM invites WHERE ${which} AND expires_at <= ${ctx.deps.clock()} LIMIT ${FLIPPED_AT_ONCE} FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE invites SET status = 'expired', updated_at = expires_at FROM due WHERE invites.id = due.id
    RETURNING ${toldColumns}`
  await recordExpiry(ctx, flipped)
  return flipped.length
}

/** It is the clock that ends an invite, whoever finds out. */
const recordExpiry = (ctx: ServiceContext, flipped: ToldInvite[]): Promise<void> =>
  recordEvents({ ...ctx, actor: { kind: 'system' } }, flipped.map(inviteEvents.expired))

/** Whether an invite in this state may make the move. */
export const mayMove = (move: Move, status: InviteStatus): boolean => (moves[move] as Rule).from.includes(status)

type Target = { inviteId: string; linkVersion?: number }

/**
 * Makes a move by one guarded UPDATE, with its event, so that of two that race exactly one wins. Repeating a move that has been made
 * changes nothing and is no error.
 *
 * @param change what the move stamps besides the state.
 * @returns the invite, and whether this call has moved it.
 * @throws DomainError invite_not_found; move_not_allowed with the state the invite is in.
 */
export async function moveInvite(
  ctx: Context,
  move: Move,
  target: Target,
  change: Prisma.InviteUncheckedUpdateManyInput,
): Promise<{ invite: InviteRow; moved: boolean }> {
  const { inviteId, linkVersion } = target
  const where = { organizationId: ctx.organization.id, id: inviteId, ...(linkVersion !== undefined && { linkVersion }) }
  await flipIfDue(ctx, where)
  const invite = await inTransaction(ctx, (inside) => moveFrom(inside, move, where, change))
  if (invite) return { invite, moved: true }

  const unmoved = await ctx.db.invite.findFirst({ where })
  if (!unmoved) throw new DomainError('invite_not_found')
  // Another move came in between and led where this one is allowed: to refuse it with that state would be no reason.
  if (mayMove(move, unmoved.status)) return moveInvite(ctx, move, target, change)
  if (!isFinished(move, unmoved)) {
    throw new DomainError('move_not_allowed', { issues: [{ field: 'status', rule: 'move', limit: move, value: unmoved.status }] })
  }
  return { invite: unmoved, moved: false }
}

/** @returns undefined when the invite is in no state that the move may begin with. */
async function moveFrom(
  ctx: Context,
  move: Move,
  where: Prisma.InviteWhereInput,
  change: Prisma.InviteUncheckedUpdateManyInput,
): Promise<InviteRow | undefined> {
  const { from, to, event }: Rule = moves[move]
  const [invite] = await ctx.db.invite.updateManyAndReturn({
    where: { ...where, status: { in: [...from] } },
    data: { ...change, ...(to && { status: to }), updatedAt: ctx.deps.clock() },
  })
  if (invite) await recordEvents(ctx, [event(invite)])
  return invite
}

/** So that the guard of the move, which goes by the state alone, is exact at this instant. */
async function flipIfDue(ctx: Context, where: Prisma.InviteWhereInput): Promise<void> {
  const due = { ...where, status: { in: [...EXPIRING] }, expiresAt: { lte: ctx.deps.clock() } }
  const [found] = await ctx.db.invite.findMany({ where: due, select: { id: true, expiresAt: true } })
  if (!found) return
  await inTransaction(ctx, async (inside) => {
    const data = { status: 'expired', updatedAt: found.expiresAt } as const
    await recordExpiry(inside, await inside.db.invite.updateManyAndReturn({ where: due, data }))
  })
}

/** An invite is also pending without ever having been reactivated: then there is nothing to repeat. */
function isFinished(move: Move, { status, linkVersion }: InviteRow): boolean {
  const { to }: Rule = moves[move]
  return status === to && (move !== 'reactivate' || linkVersion > 1)
}

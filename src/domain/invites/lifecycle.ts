import type { Connection } from '../../db/client.ts'
import { type Invite as InviteRow, type InviteStatus, Prisma } from '../../generated/prisma/client.ts'
import type { Context, ServiceContext } from '../context.ts'
import { defined } from '../defined.ts'
import { DomainError } from '../errors.ts'
import { type Move, mayMove, moves } from './moves.ts'

// How an invite comes from one state to another: by a move of the table in moves.ts, or by the clock.

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

async function flipDue({ db, deps }: ServiceContext, which: Prisma.Sql): Promise<number> {
  const now = deps.clock()
  for (let flipped = 0; ; ) {
    // What another transaction holds is not waited for: two that flip at once can't block each other, whatever the order of the rows.
    const count = await db.$executeRaw`
      WITH due AS MATERIALIZED (
        SELECT id FROM invites WHERE ${which} AND expires_at <= ${now} LIMIT ${FLIPPED_AT_ONCE} FOR NO KEY UPDATE SKIP LOCKED
      )
      UPDATE invites SET status = 'expired', updated_at = expires_at FROM due WHERE invites.id = due.id`
    flipped += count
    if (count < FLIPPED_AT_ONCE) return flipped
  }
}

type Target = { inviteId: string; linkVersion?: number | undefined }

/**
 * Makes a move, as the table in moves.ts has it: the one way in which an invite is moved by anybody. It is one guarded UPDATE, so that of
 * two that race exactly one wins. Repeating a move that has been made changes nothing and is no error.
 *
 * @param expiresAt the new expiry, of the moves that have one: extend and reactivate.
 * @returns the invite, and whether this call has moved it.
 * @throws DomainError invite_not_found; move_not_allowed with the state the invite is in.
 */
export async function moveInvite(
  ctx: Context,
  move: Move,
  target: Target,
  expiresAt?: Date,
): Promise<{ invite: InviteRow; moved: boolean }> {
  const { from, to, stamp } = moves[move]
  const { db, deps } = ctx
  const now = deps.clock()
  const where = defined({ organizationId: ctx.organization.id, id: target.inviteId, linkVersion: target.linkVersion })
  await flipIfDue(db, now, where)
  const [invite] = await db.invite.updateManyAndReturn({
    where: { ...where, status: { in: [...from] } },
    data: { ...stamp?.(now), ...defined({ status: to, expiresAt }), updatedAt: now },
  })
  if (invite) return { invite, moved: true }

  const unmoved = await db.invite.findFirst({ where })
  if (!unmoved) throw new DomainError('invite_not_found')
  // Another move came in between and led where this one is allowed: to refuse it with that state would be no reason.
  if (mayMove(move, unmoved.status)) return moveInvite(ctx, move, target, expiresAt)
  if (!isFinished(move, unmoved)) {
    throw new DomainError('move_not_allowed', { issues: [{ field: 'status', rule: 'move', limit: move, value: unmoved.status }] })
  }
  return { invite: unmoved, moved: false }
}

/** So that the guard of the move, which goes by the state alone, is exact at this instant. */
async function flipIfDue(db: Connection, now: Date, where: Prisma.InviteWhereInput): Promise<void> {
  const due = { ...where, status: { in: [...EXPIRING] }, expiresAt: { lte: now } }
  const [flipped] = await db.invite.findMany({ where: due, select: { id: true, expiresAt: true } })
  if (flipped) await db.invite.updateMany({ where: due, data: { status: 'expired', updatedAt: flipped.expiresAt } })
}

/** An invite is also pending without ever having been reactivated: then there is nothing to repeat. */
function isFinished(move: Move, { status, linkVersion }: InviteRow): boolean {
  return status === moves[move].to && (move !== 'reactivate' || linkVersion > 1)
}

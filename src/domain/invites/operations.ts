import { authorize } from '../access/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { DEFAULT_EXPIRES_IN_DAYS } from '../limits.ts'
import { inTransaction } from '../transaction.ts'
import { isUuid } from '../uuid.ts'
import { expiryAfter } from './create.ts'
import { queueInvitationEmail } from './emails.ts'
import { getInvite, type InviteDetail } from './invites.ts'
import { moveInvite } from './lifecycle.ts'
import { type Move, mayMove } from './moves.ts'

// What the organization does with an invite it has made. Beyond both documents.

/** Sends the mail once more, as a new message with the same link. @throws DomainError invite_not_found, move_not_allowed. */
export const resendInvite = (ctx: Context, id: string): Promise<InviteDetail> => operate(ctx, 'resend', id, { mail: true })

/** Ends the invite: its link opens no assessment any more. @throws DomainError invite_not_found, move_not_allowed. */
export const revokeInvite = (ctx: Context, id: string): Promise<InviteDetail> => operate(ctx, 'revoke', id)

/**
 * Moves the expiry to so many days from now, never to an earlier time.
 *
 * @throws DomainError invite_not_found, move_not_allowed, invalid.
 */
export async function extendInvite(
  ctx: Context,
  id: string,
  { expiresInDays }: { expiresInDays: number },
): Promise<InviteDetail> {
  const expiresAt = expiryAfter(ctx.deps.clock(), expiresInDays)
  return inTransaction(ctx, async (inside) => {
    await lockInvite(inside, id)
    const current = await getInvite(inside, id)
    if (mayMove('extend', current.status) && expiresAt < current.expiresAt) {
      throw new DomainError('invalid', { issues: [{ field: 'expiresInDays', rule: 'later', limit: current.expiresAt }] })
    }
    return operate(inside, 'extend', id, { expiresAt })
  })
}

/** Holds the invite until the transaction ends: two that extend it at once take turns, and neither shortens what the other has made. */
async function lockInvite({ organization, db }: Context, id: string): Promise<void> {
  if (!isUuid(id)) throw new DomainError('invite_not_found')
  await db.$queryRaw`SELECT id FROM invites WHERE organization_id = ${organization.id}::uuid AND id = ${id}::uuid FOR UPDATE`
}

/**
 * Brings an expired or revoked invite back to pending, with a new link and a mail that carries it; earlier links are dead.
 *
 * @throws DomainError invite_not_found, move_not_allowed.
 */
export function reactivateInvite(
  ctx: Context,
  id: string,
  { expiresInDays = DEFAULT_EXPIRES_IN_DAYS }: { expiresInDays?: number | undefined },
): Promise<InviteDetail> {
  return operate(ctx, 'reactivate', id, { expiresAt: expiryAfter(ctx.deps.clock(), expiresInDays), mail: true })
}

async function operate(
  ctx: Context,
  move: Move,
  id: string,
  { expiresAt, mail = false }: { expiresAt?: Date; mail?: boolean } = {},
): Promise<InviteDetail> {
  authorize(ctx, 'operate_invites')
  if (!isUuid(id)) throw new DomainError('invite_not_found')
  await inTransaction(ctx, async (inside) => {
    const { invite, moved } = await moveInvite(inside, move, { inviteId: id }, expiresAt)
    if (mail && moved) await queueInvitationEmail(inside, invite)
  })
  return getInvite(ctx, id)
}

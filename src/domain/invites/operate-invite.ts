import { scopeWhere } from '../../db/queries.ts'
import type { Invite as InviteRow } from '../../generated/prisma/client.ts'
import { type AuditAction, recordByMember } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError, type Issue, type Move } from '../errors.ts'
import { DEFAULT_EXPIRES_IN_DAYS, EXPIRY_DAYS, MAX_MESSAGE_LENGTH } from '../limits.ts'
import { isUuid } from '../text/uuid.ts'
import { DAY_MS, daysAfter } from '../time/days.ts'
import { inTransaction } from '../transaction.ts'
import { checkInteger, checkText, findIssues } from '../validation/checks.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import { mayMove } from './allowed-moves.ts'
import { hasDeclined } from './declined.ts'
import { queueInvitationEmail, queueWithdrawalEmail } from './emails.ts'
import { getInvite, type Invite, type InviteDetail } from './invites.ts'
import { limitResends, refuseConcurrentResend } from './limit-resends.ts'
import { createMoveError, moveInvite } from './move-invite.ts'

// Operations of the organization on an existing invite. Beyond both documents.

/**
 * Sends the mail again, as a new message with the same link.
 *
 * @param options.message replaces the invite's own message in this mail; empty: no message.
 * @throws DomainError invite_not_found, move_not_allowed, too_many_mails, invalid.
 */
export async function resendInvite(
  ctx: Context,
  id: string,
  { message }: { message?: string | undefined } = {},
): Promise<InviteDetail> {
  throwIfIssues(findMessageIssues(message))
  return refuseConcurrentResend(ctx, id, () => performOperation(ctx, 'resend', id, { mail: true, message }))
}

export const findMessageIssues = (message = ''): Issue[] =>
  findIssues([['customMessage', checkText(message, MAX_MESSAGE_LENGTH)]])

/**
 * Revokes the invite: its link no longer opens the assessment.
 *
 * @param options.message mailed to a candidate who got the invitation; undefined: no mail.
 * @throws DomainError invite_not_found, move_not_allowed.
 */
export const revokeInvite = (ctx: Context, id: string, { message }: { message?: string } = {}): Promise<InviteDetail> =>
  performOperation(ctx, 'revoke', id, { ...(message !== undefined && { withdrawal: message }) })

/**
 * Extends the expiry to that many days from now, never to an earlier time.
 *
 * @throws DomainError invite_not_found, move_not_allowed, invalid.
 */
export async function extendInvite(
  ctx: Context,
  id: string,
  { expiresInDays }: { expiresInDays: number },
): Promise<InviteDetail> {
  authorize(ctx, 'operate_invites')
  const expiresAt = expiryIn(ctx, expiresInDays)
  return extendInviteTo(ctx, id, () => expiresAt)
}

/**
 * Extends the expiry, never to an earlier time.
 *
 * @param endOf computes the new expiry from the current one.
 * @throws DomainError invite_not_found, move_not_allowed, invalid.
 */
export async function extendInviteTo(ctx: Context, id: string, endOf: (current: Date) => Date): Promise<InviteDetail> {
  authorize(ctx, 'operate_invites')
  return inTransaction(ctx, async (inside) => {
    await lockInvite(inside, id)
    const current = await getInvite(inside, id)
    const expiresAt = endOf(current.expiresAt)
    if (mayMove('extend', current.status)) {
      const limit = EXPIRY_DAYS.maximum
      if (expiresAt < current.expiresAt)
        throw new DomainError('invalid', { issues: [{ field: 'expiresInDays', rule: 'later', limit: current.expiresAt }] })
      if (expiresAt > daysAfter(ctx.deps.clock(), limit))
        throw new DomainError('invalid', { issues: [{ field: '', rule: 'account', problem: 'farFuture', limit }] })
    }
    return performOperation(inside, 'extend', id, { expiresAt })
  })
}

/** @throws DomainError invalid for a number of days that no invite may have. */
function expiryIn({ deps }: Context, expiresInDays: number): Date {
  const issues = findIssues([['expiresInDays', checkInteger(expiresInDays, EXPIRY_DAYS)]])
  if (issues.length > 0) throw new DomainError('invalid', { issues })
  return daysAfter(deps.clock(), expiresInDays)
}

/** Locks the invite until the transaction ends: of two simultaneous extensions neither shortens the other's. @throws DomainError invite_not_found. */
export async function lockInvite(ctx: Context, id: string): Promise<void> {
  if (!isUuid(id)) throw new DomainError('invite_not_found')
  await ctx.db.selectFrom('invites').select('id').where('id', '=', id).forUpdate().executeTakeFirst()
}

/**
 * Makes an expired or revoked invite pending again, with a new link and a mail that contains it. Earlier links stop working. A repeated
 * call gets the first one's answer, unless it names another number of days; use `extendInvite` for that.
 *
 * @param afterDecline true to reactivate an invite that the candidate declined, too.
 * @throws DomainError invite_not_found, move_not_allowed, invite_declined, too_many_mails, invalid.
 */
export async function reactivateInvite(
  ctx: Context,
  id: string,
  {
    expiresInDays = DEFAULT_EXPIRES_IN_DAYS,
    afterDecline = false,
  }: { expiresInDays?: number | undefined; afterDecline?: boolean | undefined },
): Promise<InviteDetail> {
  authorize(ctx, 'operate_invites')
  const params = { expiresAt: expiryIn(ctx, expiresInDays), mail: true, days: expiresInDays }
  return inTransaction(ctx, async (inside) => {
    await lockInvite(inside, id)
    // Its files go before it does: from when it is marked, nothing brings it back. What marks it waits for this lock.
    const isErased = (await inside.db.erasedInvite.count({ where: { ...scopeWhere(inside), inviteId: id } })) > 0
    if (isErased) throw createMoveError('reactivate', 'being erased')
    if (!afterDecline && (await hasDeclined(inside, id)))
      throw new DomainError('invite_declined', { issues: [{ field: '', rule: 'declined' }] })
    return performOperation(inside, 'reactivate', id, params)
  })
}

/** True if a reactivated invite was given that many days. */
const lastsForDays = ({ sentAt, expiresAt }: Pick<Invite, 'sentAt' | 'expiresAt'>, days: number): boolean =>
  Math.round((expiresAt.getTime() - sentAt.getTime()) / DAY_MS) === days

type Operation = Extract<Move, 'resend' | 'extend' | 'revoke' | 'reactivate'>

const actions = {
  resend: 'resent_invite',
  extend: 'extended_invite',
  revoke: 'revoked_invite',
  reactivate: 'reactivated_invite',
} as const satisfies Record<Operation, AuditAction>

/**
 * Parameters of an operation.
 *
 * @property days that a pending invite must have for a reactivation to be its repetition. @property message replaces the invite's own in the mail.
 * @property withdrawal text of the mail about a revocation; undefined: no mail.
 */
type OperationParams = { expiresAt?: Date; mail?: boolean; message?: string | undefined; days?: number; withdrawal?: string }

/** Returns the invite as this operation left it. The row stays locked until then. */
async function performOperation(
  ctx: Context,
  move: Operation,
  id: string,
  { expiresAt, mail = false, message, days, withdrawal }: OperationParams = {},
): Promise<InviteDetail> {
  authorize(ctx, 'operate_invites')
  return inTransaction(ctx, async (inside) => {
    await lockInvite(inside, id)
    const { invite, moved } = await moveInvite(inside, move, { inviteId: id }, { expiresAt })
    if (!moved && days !== undefined && !lastsForDays(invite, days)) throw createMoveError(move, invite.status)
    if (moved) await queueMailsAndAudit(inside, move, invite, { mail, message, withdrawal })
    return getInvite(inside, id)
  })
}

/** Queues the mails that were requested, and records the operation. */
async function queueMailsAndAudit(
  inside: Context,
  move: Operation,
  invite: InviteRow,
  { mail, message, withdrawal }: Pick<OperationParams, 'mail' | 'message'> & { withdrawal: string | undefined },
): Promise<void> {
  if (mail) {
    const wasMailed = await limitResends(inside, invite)
    // Without one before there is nothing to compare it with: it is the first.
    const repeatKind = move === 'reactivate' ? 'reactivated' : 'resent'
    await queueInvitationEmail(inside, invite, wasMailed ? repeatKind : 'invitation', message)
  }
  if (withdrawal !== undefined) await queueWithdrawalEmail(inside, invite, withdrawal)
  const target = { kind: 'invite', id: invite.id } as const
  const details = move === 'extend' ? { until: invite.expiresAt.toISOString() } : {}
  await recordByMember(inside, { action: actions[move], target, details })
}

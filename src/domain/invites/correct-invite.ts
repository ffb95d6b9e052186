import { recordByMember } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { omitUndefined } from '../fields/omit-undefined.ts'
import { COUNTS, EXPIRY_DAYS, MAX_MESSAGE_LENGTH, MAX_NAME_LENGTH } from '../limits.ts'
import { searchKey } from '../text/fold-text.ts'
import { DAY_MS, daysAfter } from '../time/days.ts'
import { checkInteger, checkText, findIssues, issuesOfChangedFields } from '../validation/checks.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import { mayMove } from './allowed-moves.ts'
import { assignGrader, changeInvite, replaceTags, updateInvite } from './change-invite.ts'
import { createInvite } from './create-invite.ts'
import { findExtensionIssues, withExpiry } from './extension.ts'
import { getInvite, type Invite, type InviteDetail, type InviteStatus } from './invites.ts'
import { createMoveError } from './move-invite.ts'
import { pickTerms } from './new-invite.ts'
import { extendInviteTo, revokeInvite } from './operate-invite.ts'

// Corrections of an invite that was sent. Beyond both documents.

const CORRECTABLE = ['recipientName', 'customMessage', 'questionReplayLimit', 'answerRecordLimit'] as const
/** Omitted fields stay unchanged. */
export type Correction = { [Field in (typeof CORRECTABLE)[number]]?: Invite[Field] | undefined }

/**
 * Corrects the name, message, and limits of an invite that is not accepted yet. The page and later emails show the corrections.
 *
 * @throws DomainError not_permitted, invite_not_found; move_not_allowed after acceptance, unless nothing would change; invalid.
 */
export async function correctInvite(ctx: Context, id: string, correction: Correction): Promise<void> {
  await changeInvite(ctx, id, async (inside, where) => {
    const invite = await getInvite(inside, id)
    const { recipientName, customMessage, questionReplayLimit, answerRecordLimit } = { ...invite, ...omitUndefined(correction) }
    const issues = findIssues([
      ['recipientName', checkText(recipientName ?? '', MAX_NAME_LENGTH)],
      ['customMessage', checkText(customMessage, MAX_MESSAGE_LENGTH)],
      ['questionReplayLimit', checkInteger(questionReplayLimit, COUNTS)],
      ['answerRecordLimit', checkInteger(answerRecordLimit, COUNTS)],
    ])
    throwIfIssues(issuesOfChangedFields(issues, invite, omitUndefined(correction)))
    const wanted = { recipientName, customMessage, questionReplayLimit, answerRecordLimit }
    const corrected = CORRECTABLE.filter((field) => invite[field] !== wanted[field])
    if (corrected.length === 0) return
    if (invite.status !== 'pending') throw createSettledError(corrected[0]!, invite.status)
    const recipientNameSearch = recipientName && searchKey(recipientName)
    await updateInvite(inside, where, { ...wanted, recipientNameSearch }, { corrected })
    await recordByMember(inside, { action: 'corrected_invite', target: { kind: 'invite', id }, details: { corrected } })
  })
}

const createSettledError = (field: string, status: InviteStatus): DomainError =>
  new DomainError('move_not_allowed', { issues: [{ field, rule: 'settled', value: status }] })

/** @property tagIds all of its tags. */
export type InviteEdits = Correction & {
  expiresInDays?: number | undefined
  assignedGraderId?: string | null | undefined
  tagIds?: string[] | undefined
}

/** Makes all of these changes, or none. @throws DomainError as correctInvite, changeExpiry, assignGrader and replaceTags. */
export async function editInvite(ctx: Context, id: string, edits: InviteEdits): Promise<InviteDetail> {
  const { expiresInDays, assignedGraderId, tagIds, ...correction } = edits
  await changeInvite(ctx, id, async (inside) => {
    await correctInvite(inside, id, correction)
    if (expiresInDays !== undefined) await changeExpiry(inside, id, { expiresInDays })
    if (assignedGraderId !== undefined) await assignGrader(inside, id, assignedGraderId)
    if (tagIds !== undefined) await replaceTags(inside, id, tagIds)
  })
  return getInvite(ctx, id)
}

/** A number of days from now, or a date in the organization's time zone. */
export type NewExpiry = { expiresInDays: number } | { expiresOn: string }

/**
 * Changes the expiry: to a later time, as extendInvite does, or to an earlier one.
 *
 * @throws DomainError not_permitted, invite_not_found, move_not_allowed; invalid for a time at which no invite may expire.
 */
export async function changeExpiry(ctx: Context, id: string, expiry: NewExpiry): Promise<void> {
  await changeInvite(ctx, id, async (inside, where) => {
    const expiresAt = await readExpiry(inside, expiry)
    const { status, expiresAt: before } = await getInvite(inside, id)
    if (!mayMove('extend', status) || expiresAt >= before) {
      await extendInviteTo(inside, id, () => expiresAt)
      return
    }
    const changes = { expiresAt: { before: before.toISOString(), after: expiresAt.toISOString() } }
    await updateInvite(inside, where, { expiresAt }, changes)
    await recordByMember(inside, { action: 'shortened_invite', target: { kind: 'invite', id } })
  })
}

/** @throws DomainError invalid. */
async function readExpiry(ctx: Context, expiry: NewExpiry): Promise<Date> {
  if ('expiresInDays' in expiry) {
    throwIfIssues(findIssues([['expiresInDays', checkInteger(expiry.expiresInDays, EXPIRY_DAYS)]]))
    return daysAfter(ctx.deps.clock(), expiry.expiresInDays)
  }
  const params = await withExpiry(ctx, expiry)
  throwIfIssues(findExtensionIssues(ctx, params))
  return new Date(params.expiresAt!)
}

/**
 * Replaces an invite to a mistyped address: revokes it, and invites the correct address with the same settings for the remaining days.
 *
 * @returns the new invite's id.
 * @throws DomainError not_permitted, invite_not_found; move_not_allowed once the candidate has started; invalid, duplicate_invite as
 *   createInvite.
 */
export async function replaceInvite(ctx: Context, id: string, recipientEmail: string): Promise<string> {
  authorize(ctx, 'invite')
  let replacement = ''
  await changeInvite(ctx, id, async (inside) => {
    const invite = await getInvite(inside, id)
    // A member creates live invites; replacing a test invite would send a real email.
    if (!mayMove('extend', invite.status) || invite.mode === 'test') throw createMoveError('revoke', invite.status)
    await revokeInvite(inside, id)
    const terms = termsToRepeat(invite, inside.deps.clock())
    replacement = (await createInvite(inside, { ...terms, recipientEmail }, { like: invite })).id
  })
  return replacement
}

/** Settings that repeat an invite. */
const termsToRepeat = (invite: InviteDetail, now: Date) => ({
  ...pickTerms(invite),
  assessmentId: invite.assessmentId,
  tagIds: invite.tagIds,
  expiresInDays: Math.max(1, Math.ceil((invite.expiresAt.getTime() - now.getTime()) / DAY_MS)),
})

import type { BulkAction, Prisma } from '../../../generated/prisma/client.ts'
import type { AuditDetails } from '../../audit/audit-details.ts'
import type { Context } from '../../context.ts'
import type { Issue } from '../../errors.ts'
import { DEFAULT_EXPIRES_IN_DAYS, EXPIRY_DAYS, MAX_MESSAGE_LENGTH } from '../../limits.ts'
import { isUuid } from '../../text/uuid.ts'
import { DAY_MS } from '../../time/days.ts'
import { checkInteger, checkText, findIssues } from '../../validation/checks.ts'
import { resolveInviteReferences } from '../create-invite.ts'
import { findDecisionIssues, type NewDecision } from '../decisions/decide.ts'
import { findExtensionIssues } from '../extension.ts'
import { findMessageIssues } from '../operate-invite.ts'

/** Parameters of a bulk change; each action has its own. */
export type BulkParams = {
  /** Extend: to the end of this day in the organization's time zone, or by this many days from each current expiry. */
  expiresOn?: string | undefined
  addedDays?: number | undefined
  /** Reactivate: from now. */
  expiresInDays?: number | undefined
  tagId?: string
  /** Null: nobody. */
  graderId?: string | null
  /** Revoke: include started invites. Erase: include started and completed invites. */
  includesStarted?: boolean
  /** Revoke: emailed to candidates who got the invitation. Undefined: no email. Resend: replaces each invite's own message. */
  message?: string | undefined
  /** Name: source of the names, and whether the invitation is sent again. */
  listId?: string
  sendsAgain?: boolean
  decision?: string
  note?: string
}

/** Parameters that {@link findParamIssues} accepted. @property expiresAt end of the day that an extension names. */
export type StoredParams = BulkParams & { expiresAt?: string }

export const parseParams = ({ params }: { params: Prisma.JsonValue }): StoredParams => params as StoredParams

/** Details for the audit log, without texts. */
export const toAuditedParams = ({ message, listId: _, expiresAt: __, note: ___, ...params }: StoredParams): AuditDetails => ({
  ...params,
  ...(message !== undefined && { isEmailed: true }),
})

export async function findParamIssues(ctx: Context, action: BulkAction, params: StoredParams): Promise<Issue[]> {
  const { expiresInDays = DEFAULT_EXPIRES_IN_DAYS, tagId, graderId = null, message = '', listId = '' } = params
  switch (action) {
    case 'extend':
      return findExtensionIssues(ctx, params)
    case 'reactivate':
      return findIssues([['expiresInDays', checkInteger(expiresInDays, EXPIRY_DAYS)]])
    case 'revoke':
      return findIssues([['message', checkText(message, MAX_MESSAGE_LENGTH)]])
    case 'resend':
      return findMessageIssues(message)
    case 'tag':
      if (!tagId || !isUuid(tagId)) return [{ field: 'tagIds', rule: 'required' }]
      return (await resolveInviteReferences(ctx, { tagIds: [tagId] })).issues
    case 'assign':
      if (graderId === null) return []
      if (!isUuid(graderId)) return [{ field: 'assignedGraderId', rule: 'reference', value: graderId }]
      return (await resolveInviteReferences(ctx, { assignedGraderId: graderId, tagIds: [] })).issues
    case 'name':
      return isUuid(listId) ? [] : [{ field: 'list', rule: 'reference', value: listId }]
    case 'decide':
      return findDecisionIssues(toDecision(params))
    default:
      return []
  }
}

export const toDecision = ({ decision = '', note = '' }: BulkParams): NewDecision => ({ decision, note })

/** When an invite expires once it is extended. */
export const newExpiryOf = ({ expiresAt, addedDays = 0 }: StoredParams, current: Date): Date =>
  expiresAt === undefined ? new Date(current.getTime() + addedDays * DAY_MS) : new Date(expiresAt)

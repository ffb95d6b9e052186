import { createHash } from 'node:crypto'
import { sql } from '../../../db/builder.ts'
import { anyOfIds, type SqlBool } from '../../../db/queries.ts'
import { authorize } from '../../authorization/permissions.ts'
import { type Context, inMode } from '../../context.ts'
import { EXPIRY_DAYS, MAX_BULK_INVITES } from '../../limits.ts'
import { isUuid } from '../../text/uuid.ts'
import { daysAfter } from '../../time/days.ts'
import { throwIfIssues } from '../../validation/throw-if-issues.ts'
import { mayMove } from '../allowed-moves.ts'
import { statusNow } from '../expiry.ts'
import { withExpiry } from '../extension.ts'
import type { InviteStatus } from '../invites.ts'
import type { InviteFilter } from '../listing/invite-filter.ts'
import { findMatchingIds } from '../listing/list-matches.ts'
import { type BulkParams, findParamIssues, newExpiryOf } from './bulk-params.ts'

/** These invites, or all that match a filter. */
export type InviteSelection = { ids: string[] } | { filter: InviteFilter }

/** The invites, sent last first; one more than a bulk change may have, where there are more. */
export async function findSelectedInvites(ctx: Context, selection: InviteSelection): Promise<string[]> {
  if ('filter' in selection) return findMatchingIds(ctx, selection.filter, MAX_BULK_INVITES + 1)
  const chosen = ctx.db.selectFrom('invites').where('id', '=', anyOfIds(selection.ids.filter(isUuid)))
  const found = await chosen.select('id').orderBy('sentAt', 'desc').orderBy('id', 'desc').execute()
  return found.map(({ id }) => id)
}

/** Counts the chosen invites by status. @throws DomainError not_permitted; invalid as findMatchingIds. */
export async function countSelectedInvites(ctx: Context, selection: InviteSelection): Promise<Map<InviteStatus, number>> {
  const invites = await readChosen(ctx, selection)
  const counts = new Map<InviteStatus, number>()
  for (const { status } of invites) counts.set(status, (counts.get(status) ?? 0) + 1)
  return counts
}

/** Number of invites by their current and new day of expiry, in the organization's time zone. @property kept invites that stay as they are. */
export type ExtensionPreview = { timeZone: string; days: { from: string; to: string; count: number }[]; kept: number }

/** Previews an extension of the chosen invites, the earliest expiry first. @throws DomainError not_permitted; invalid. */
export async function previewExtension(ctx: Context, selection: InviteSelection, typed: BulkParams): Promise<ExtensionPreview> {
  const params = await withExpiry(ctx, typed)
  throwIfIssues(await findParamIssues(ctx, 'extend', params))
  const { timeZone } = await ctx.db.organization.findUniqueOrThrow({
    where: { id: ctx.organization.id },
    select: { timeZone: true },
  })
  const dayIn = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone })
  const invites = (await readChosen(ctx, selection)).sort((a, b) => a.expiresAt.getTime() - b.expiresAt.getTime())
  const latest = daysAfter(ctx.deps.clock(), EXPIRY_DAYS.maximum)
  const days = new Map<string, ExtensionPreview['days'][number]>()
  let keptCount = 0
  for (const { status, expiresAt } of invites) {
    const end = newExpiryOf(params, expiresAt)
    if (!mayMove('extend', status) || end < expiresAt || end > latest) {
      keptCount++
      continue
    }
    const [from, to] = [dayIn.format(expiresAt), dayIn.format(end)]
    const count = (days.get(`${from} ${to}`)?.count ?? 0) + 1
    days.set(`${from} ${to}`, { from, to, count })
  }
  return { timeZone, days: [...days.values()], kept: keptCount }
}

async function readChosen(ctx: Context, selection: InviteSelection): Promise<{ status: InviteStatus; expiresAt: Date }[]> {
  authorize(ctx, 'operate_invites')
  const ids = await findSelectedInvites(ctx, selection)
  const invites = ctx.db.selectFrom('invites').where('id', '=', anyOfIds(ids))
  return invites.select((eb) => [statusNow(eb, ctx.deps.clock()).as('status'), 'expiresAt']).execute()
}

export type ChosenPerson = { inviteId: string; email: string; name: string | null }
/**
 * @property erasable people with all invites chosen and none started. @property started the same with a started or completed invite.
 * @property others people with further invites. @property waitingEmails unsent emails of the chosen invites. @property fingerprint
 *   identifies the chosen invites.
 */
export type ErasurePreview = {
  erasable: ChosenPerson[]
  started: ChosenPerson[]
  others: ChosenPerson[]
  waitingEmails: number
  fingerprint: string
}

/** The same for the same invites only, in any order. */
export const fingerprintOf = (ids: readonly string[]): string =>
  createHash('sha256')
    .update([...ids].sort().join())
    .digest('base64url')

const addressOf = (table: string) => sql<string>`address_key(${sql.ref(`${table}.recipientEmail`)})`

/**
 * Previews an erasure of the chosen invites: people to erase and people to keep. @throws DomainError not_permitted; invalid as
 * findMatchingIds.
 */
export async function previewErasure(ctx: Context, selection: InviteSelection): Promise<ErasurePreview> {
  authorize(ctx, 'erase_candidates')
  const ids = await findSelectedInvites(ctx, selection)
  const otherInvites = inMode(ctx, 'all')
    .db.selectFrom('invites as other')
    .select('other.id')
    .where(sql<SqlBool>`${addressOf('other')} = ${addressOf('invites')}`)
    .where(sql<SqlBool>`other.id <> all(${ids}::uuid[])`)
  const people = ctx.db
    .selectFrom('invites')
    .where('invites.id', '=', anyOfIds(ids))
    .groupBy(addressOf('invites'))
    .orderBy(addressOf('invites'))
    .select(({ exists }) => [
      sql<string>`min(invites.id::text)`.as('inviteId'),
      sql<string>`min(invites.recipient_email)`.as('email'),
      sql<string | null>`min(invites.recipient_name)`.as('name'),
      sql<boolean>`bool_or(invites.started_at is not null or invites.status in ('started', 'completed'))`.as('hasStarted'),
      sql<boolean>`bool_or(${exists(otherInvites)})`.as('hasOther'),
    ])
  const emails = ctx.db.selectFrom('inviteEmails').where('inviteId', '=', anyOfIds(ids)).where('state', '=', 'queued')
  const waiting = await emails.select(sql<number>`count(*)::int`.as('count')).executeTakeFirstOrThrow()
  const found = await people.execute()
  const erasablePeople = found.filter(({ hasOther }) => !hasOther)
  return {
    erasable: erasablePeople.filter(({ hasStarted }) => !hasStarted),
    started: erasablePeople.filter(({ hasStarted }) => hasStarted),
    others: found.filter(({ hasOther }) => hasOther),
    waitingEmails: waiting.count,
    fingerprint: fingerprintOf(ids),
  }
}

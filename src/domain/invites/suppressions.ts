import { sql } from '../../db/builder.ts'
import type { SqlBool } from '../../db/queries.ts'
import { scopeWhere } from '../../db/queries.ts'
import { tenantDb } from '../../db/tenant-db.ts'
import { unscoped, unscopedPrisma } from '../../db/unscoped.ts'
import { DEFAULT, insertFromSelect, timestamp, uuid } from '../../db/writes.ts'
import type { KeyMode, Suppression } from '../../generated/prisma/client.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { modeOf } from '../authorization/author.ts'
import { authorize } from '../authorization/permissions.ts'
import { type Context, enterOrganization, type ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import type { StoppedMails } from '../events/event.ts'
import { type ListPage, type Order, type PageRequest, readPage, totalOrder } from '../lists/page.ts'
import { isAutomatic } from '../mails/candidate-mails.ts'
import { formatHmac, hmacsOfAddress } from '../secrets/address-hmacs.ts'
import { isUuid } from '../text/uuid.ts'
import { DAY_MS } from '../time/days.ts'
import { inTransaction } from '../transaction.ts'
import { isEmailAddress, toStoredAddress } from '../validation/email-address.ts'

export type { Suppression }

// The addresses that an organization does not write to: mails to them only harm those to everybody else. Mails about members' own accounts
// know no such list.

/** Why nothing is written there: no such mailbox; a full one; called spam; put on the list by somebody; stopped by its reader. */
export const SUPPRESSION_REASONS = ['bounce', 'full', 'complaint', 'manual', 'unsubscribed'] as const
export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number]

/** After this many consecutive temporary bounces within FULL_WITHIN_DAYS, the address gets no mail for FULL_FOR_DAYS. */
const FULL_AFTER_BOUNCES = 3
const FULL_WITHIN_DAYS = 30
const FULL_FOR_DAYS = 14

const REASON_TEXTS: Record<SuppressionReason, string> = {
  bounce: 'an earlier mail to this address came back, there is no such mailbox',
  full: `the last ${FULL_AFTER_BOUNCES} mails to this address came back, its mailbox is full or can not be reached`,
  complaint: 'an earlier mail to this address was called spam',
  manual: 'the address is on the list of those that are not written to',
  unsubscribed: 'the candidate has stopped these mails',
}

/** Why no mail goes to the address, in words. A newer release may know more reasons. */
export const formatSuppressionReason = (reason: string): string =>
  (REASON_TEXTS as Record<string, string>)[reason] ?? REASON_TEXTS.manual

type MailRecipient = { organizationId: string; kind: string; invite: { mode: KeyMode; recipientEmail: string } }

/** Why a mail of the service to a candidate is not to be sent; null while it is. */
export async function findSuppressionReason(
  system: ServiceContext,
  { organizationId, kind, invite }: MailRecipient,
): Promise<string | null> {
  const { mode, recipientEmail } = invite
  const owner = enterOrganization(system, { id: organizationId })
  const found =
    (await findSuppression(owner, mode, recipientEmail)) ??
    (isAutomatic(kind) ? await findSuppression(owner, mode, recipientEmail, 'reminders') : null)
  return found && `Not sent: ${formatSuppressionReason(found.reason)}.`
}

/** Suppression of the address; null: none. @param scope `reminders`: only reminders and notices. */
export async function findSuppression(
  { db, deps, organization }: Pick<Context, 'db' | 'deps'> & { organization: { id: string } },
  mode: KeyMode,
  address: string,
  scope: StoppedMails = 'all',
): Promise<Suppression | null> {
  const standing = { OR: [{ until: null }, { until: { gt: deps.clock() } }] }
  const where = { organizationId: organization.id, mode, ...whereAddress(deps, organization, address), scope, ...standing }
  return db.suppression.findFirst({ where, orderBy: { until: { sort: 'desc', nulls: 'first' } } })
}

/** The address itself or, once whoever has it was erased, what stands for it. */
export const whereAddress = (
  { secretKeys }: Pick<Context['deps'], 'secretKeys'>,
  { id }: { id: string },
  address: string,
): { address: { in: string[] } } => ({
  address: {
    in: [toStoredAddress(address).toLowerCase(), ...hmacsOfAddress(secretKeys, id, toStoredAddress(address)).map(formatHmac)],
  },
})

/** Stops mails to the address of a mail that has come back, or was called spam, as far as that says something of the address. */
export async function suppressAddressOf(
  system: ServiceContext,
  emailId: string,
  cause: 'address' | 'temporary' | 'blocked' | 'complaint',
): Promise<void> {
  if (cause === 'blocked') return
  const isFull = cause === 'temporary'
  if (isFull && !(await isFullAgain(system, emailId))) return
  const { clock, newId } = system.deps
  const now = clock()
  const mail = unscoped(system.db)
    .selectFrom('inviteEmails as email')
    .innerJoin('invites as invite', (join) =>
      join.onRef('invite.organizationId', '=', 'email.organizationId').onRef('invite.id', '=', 'email.inviteId'),
    )
    .where('email.id', '=', emailId)
  const insertion = insertFromSelect(system.db, 'suppressions', mail, (eb) => ({
    id: uuid(newId()),
    organizationId: eb.ref('email.organizationId'),
    mode: eb.ref('invite.mode'),
    address: eb.fn<string>('address_key', ['invite.recipientEmail']),
    reason: eb.val<string>(isFull ? 'full' : cause === 'complaint' ? 'complaint' : 'bounce'),
    scope: DEFAULT,
    since: timestamp(now),
    until: isFull ? timestamp(new Date(now.getTime() + FULL_FOR_DAYS * DAY_MS)) : DEFAULT,
    emailId: eb.ref('email.id'),
  }))
  // A permanent suppression stays; one with an end is renewed.
  const again = insertion.onConflict((conflict) =>
    conflict
      .columns(['organizationId', 'mode', 'address', 'scope'])
      .doUpdateSet((eb) => ({
        reason: eb.ref('excluded.reason'),
        since: eb.ref('excluded.since'),
        until: eb.ref('excluded.until'),
        emailId: eb.ref('excluded.emailId'),
      }))
      .where('suppressions.until', 'is not', null),
  )
  await again.execute()
}

/** True if the last mails to the address all bounced. */
async function isFullAgain({ db, deps }: ServiceContext, emailId: string): Promise<boolean> {
  const email = await unscopedPrisma(db).inviteEmail.findUnique({ where: { id: emailId }, include: { invite: true } })
  if (!email) return false
  const { mode, recipientEmail } = email.invite
  const since = new Date(deps.clock().getTime() - FULL_WITHIN_DAYS * DAY_MS)
  const last = tenantDb(db, { organization: { id: email.organizationId }, mode: 'all' })
    .selectFrom('inviteEmails')
    .innerJoin(
      tenantDb(db, { organization: { id: email.organizationId }, mode: 'all' }).table('invites'),
      'invites.id',
      'inviteEmails.inviteId',
    )
    .where('invites.mode', '=', mode)
    .where(({ ref }) => sql<SqlBool>`address_key(${ref('invites.recipientEmail')}) = address_key(${recipientEmail})`)
    .where('inviteEmails.createdAt', '>', since)
    .where('inviteEmails.createdAt', '<=', email.createdAt)
    .where(({ or, eb }) => or([eb('inviteEmails.state', '=', 'sent'), eb('inviteEmails.bounce', 'is not', null)]))
    .orderBy('inviteEmails.createdAt', 'desc')
    .limit(FULL_AFTER_BOUNCES)
  const bounces = await last.select('inviteEmails.bounce').execute()
  return bounces.length === FULL_AFTER_BOUNCES && bounces.every(({ bounce }) => bounce === 'temporary')
}

/** The addresses that are not written to now. @throws DomainError not_permitted. */
export async function listSuppressions(
  ctx: Context,
  { search }: { search?: string },
  order: Order<'since'>,
  page: PageRequest,
): Promise<ListPage<Suppression>> {
  authorize(ctx, 'read')
  const { suppression } = ctx.db
  const where = {
    organizationId: ctx.organization.id,
    mode: modeOf(ctx),
    OR: [{ until: null }, { until: { gt: ctx.deps.clock() } }],
    ...(search ? whereAddress(ctx.deps, ctx.organization, search.trim()) : {}),
  }
  return readPage(
    page,
    () => suppression.count({ where }),
    (window) => suppression.findMany({ where, orderBy: totalOrder(order), ...window }),
  )
}

/** @throws DomainError not_permitted, suppression_not_found. */
export async function getSuppression(ctx: Context, id: string): Promise<Suppression> {
  authorize(ctx, 'read')
  const where = { organizationId: ctx.organization.id, mode: modeOf(ctx), id }
  const found = isUuid(id) ? await ctx.db.suppression.findFirst({ where }) : null
  if (!found) throw new DomainError('suppression_not_found')
  return found
}

/** Suppresses an address. An address that is already suppressed keeps its entry. @throws DomainError not_permitted, invalid. */
export async function suppressAddress(ctx: Context, given: string): Promise<Suppression> {
  authorize(ctx, 'operate_invites')
  const address = toStoredAddress(given.trim()).toLowerCase()
  if (!isEmailAddress(address)) throw new DomainError('invalid', { issues: [{ field: 'address', rule: 'email' }] })
  return inTransaction(ctx, async (inside) => {
    const { db, deps, organization } = inside
    const key = { organizationId: organization.id, mode: modeOf(ctx), address, scope: 'all' }
    const found = await findSuppression(inside, key.mode, address)
    if (found && found.until === null) return found
    const now = deps.clock()
    const data = { reason: 'manual' satisfies SuppressionReason, since: now, until: null, emailId: null }
    const kept = await db.suppression.upsert({
      where: { organizationId_mode_address_scope: key },
      create: { id: deps.newId(), ...key, ...data },
      update: data,
    })
    await recordAudit(inside, { action: 'suppressed_address' })
    return kept
  })
}

/**
 * Lifts the suppression of an address.
 *
 * @param why for the audit log, which does not hold the address.
 * @throws DomainError not_permitted, suppression_not_found; invalid, `required`, without a reason.
 */
export async function deleteSuppression(ctx: Context, id: string, why: string): Promise<Suppression> {
  authorize(ctx, 'operate_invites')
  const reason = why.trim()
  if (reason === '') throw new DomainError('invalid', { issues: [{ field: 'why', rule: 'required' }] })
  return inTransaction(ctx, async (inside) => {
    const suppression = await getSuppression(inside, id)
    const { count } = await inside.db.suppression.deleteMany({ where: { ...scopeWhere(inside), id } })
    if (count === 0) throw new DomainError('suppression_not_found')
    await recordAudit(inside, { action: 'lifted_suppression', details: { was: suppression.reason, why: reason.slice(0, 500) } })
    return suppression
  })
}

import { sql } from '../../db/builder.ts'
import { scopeWhere } from '../../db/queries.ts'
import { type KeyMode, Prisma, type Suppression } from '../../generated/prisma/client.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { modeOf } from '../authorization/author.ts'
import { authorize } from '../authorization/permissions.ts'
import { type Context, enterOrganization, inMode, type ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import type { StoppedMails } from '../events/event.ts'
import { type FilterConditions, listPage, projectionOf, type RowOf } from '../lists/listing.ts'
import type { ListPage, Order, PageRequest } from '../lists/page.ts'
import { isAutomatic } from '../mails/candidate-mails.ts'
import { formatHmac, hmacsOfAddress } from '../secrets/address-hmacs.ts'
import { isUuid } from '../text/uuid.ts'
import { inTransaction } from '../transaction.ts'
import { isEmailAddress, toStoredAddress } from '../validation/email-address.ts'

export type { Suppression }

// The addresses that an organization does not write to: mails to them only harm those to everybody else. Mails about members' own accounts
// know no such list.

/** Reasons for a suppression: no such mailbox; a full mailbox; a spam complaint; added by a member; stopped by the recipient. */
export const SUPPRESSION_REASONS = ['bounce', 'full', 'complaint', 'manual', 'unsubscribed'] as const
export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number]

/** After this many consecutive temporary bounces, the address gets no mail for a while, see suppress-bounced.ts. */
export const FULL_AFTER_BOUNCES = 3

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
  const inForce = { OR: [{ until: null }, { until: { gt: deps.clock() } }] }
  const where = { organizationId: organization.id, mode, ...whereAddress(deps, organization, address), scope, ...inForce }
  return db.suppression.findFirst({ where, orderBy: { until: { sort: 'desc', nulls: 'first' } } })
}

/** Matches the address, or its HMAC after the person was erased. */
export const whereAddress = (
  { secretKeys }: Pick<Context['deps'], 'secretKeys'>,
  { id }: { id: string },
  address: string,
): { address: { in: string[] } } => ({
  address: {
    in: [toStoredAddress(address).toLowerCase(), ...hmacsOfAddress(secretKeys, id, toStoredAddress(address)).map(formatHmac)],
  },
})

const filters: FilterConditions<'suppressions', { validAt: Date; addresses?: string[] | undefined }> = {
  validAt: (eb, now) => eb.or([eb('suppressions.until', 'is', null), eb('suppressions.until', '>', now)]),
  addresses: (eb, addresses) => sql`${eb.ref('suppressions.address')} = any(${addresses}::text[])`,
}
const suppressionList = { table: 'suppressions', filters } as const
const wholeSuppression = projectionOf('suppressions', Prisma.SuppressionScalarFieldEnum)
export type ListedSuppression = RowOf<typeof wholeSuppression>

/** The addresses that are not written to now. @throws DomainError not_permitted. */
export async function listSuppressions(
  ctx: Context,
  { search }: { search?: string },
  order: Order<'since'>,
  page: PageRequest,
): Promise<ListPage<ListedSuppression>> {
  authorize(ctx, 'read')
  const addresses = search ? whereAddress(ctx.deps, ctx.organization, search.trim()).address.in : undefined
  const filter = { validAt: ctx.deps.clock(), addresses }
  return listPage(inMode(ctx, modeOf(ctx)), suppressionList, { projection: wholeSuppression, filter, order, page })
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
export async function suppressAddress(ctx: Context, typedAddress: string): Promise<Suppression> {
  authorize(ctx, 'operate_invites')
  const address = toStoredAddress(typedAddress.trim()).toLowerCase()
  if (!isEmailAddress(address)) throw new DomainError('invalid', { issues: [{ field: 'address', rule: 'email' }] })
  return inTransaction(ctx, async (inside) => {
    const { db, deps, organization } = inside
    const key = { organizationId: organization.id, mode: modeOf(ctx), address, scope: 'all' }
    const found = await findSuppression(inside, key.mode, address)
    if (found && found.until === null) return found
    const now = deps.clock()
    const data = { reason: 'manual' satisfies SuppressionReason, since: now, until: null, emailId: null }
    const suppression = await db.suppression.upsert({
      where: { organizationId_mode_address_scope: key },
      create: { id: deps.newId(), ...key, ...data },
      update: data,
    })
    await recordAudit(inside, { action: 'suppressed_address' })
    return suppression
  })
}

/**
 * Lifts the suppression of an address.
 *
 * @param enteredReason for the audit log, which does not hold the address.
 * @throws DomainError not_permitted, suppression_not_found; invalid, `required`, without a reason.
 */
export async function deleteSuppression(ctx: Context, id: string, enteredReason: string): Promise<Suppression> {
  authorize(ctx, 'operate_invites')
  const reason = enteredReason.trim()
  if (reason === '') throw new DomainError('invalid', { issues: [{ field: 'why', rule: 'required' }] })
  return inTransaction(ctx, async (inside) => {
    const suppression = await getSuppression(inside, id)
    const { count } = await inside.db.suppression.deleteMany({ where: { ...scopeWhere(inside), id } })
    if (count === 0) throw new DomainError('suppression_not_found')
    await recordAudit(inside, { action: 'lifted_suppression', details: { was: suppression.reason, why: reason.slice(0, 500) } })
    return suppression
  })
}

import { sql } from '../../db/builder.ts'
import type { Connection } from '../../db/client.ts'
import { affectedRows } from '../../db/statements.ts'
import type { EmailFailure, EmailState, MemberEmail as MemberEmailRow, Prisma } from '../../generated/prisma/client.ts'
import { loadZones } from '../concurrency/load-zones.ts'
import { type QueuedRef, rowsOf } from '../concurrency/queued-ref.ts'
import type { Context, ServiceContext } from '../context.ts'
import { omitUndefined } from '../fields/omit-undefined.ts'
import { MAX_USER_AGENT_LENGTH } from '../limits.ts'
import { BRAND } from '../ports/brand.ts'
import { displayNameOf } from '../text/display-name.ts'
import { isUuid } from '../text/uuid.ts'
import { inTransaction } from '../transaction.ts'
import type { TemplateKind } from './candidate-mails.ts'
import { type EmailQueue, type FailedEmails, type RetrySelection, type SendOutcome, toRetry } from './send-outcome.ts'

/** Daily digests; off until the member switches them on. */
export const DIGESTS = ['grading_digest', 'expiring_digest', 'bounce_digest', 'open_digest'] as const
export type Digest = (typeof DIGESTS)[number]
export const isDigest = (kind: string): kind is Digest => (DIGESTS as readonly string[]).includes(kind)

/** Kinds of mails to members; mail/member-email.ts has their texts. */
export type MemberEmailKind = 'join' | 'reset' | 'webhook_failing' | 'webhook_disabled' | 'text_test' | Digest | SecurityMailKind
/** Mails about the security of the member's account, and for admins of the organization. Nothing stops or delays them. */
export type SecurityMailKind =
  | 'new_browser'
  | 'password_changed'
  | 'password_reset'
  | 'factor_added'
  | 'factor_removed'
  | 'recovery_codes_made'
  | 'recovery_code_used'
  | 'roles_changed'
  | 'owner_offered'
  | 'ownership_offer_made'
  | 'ownership_offer_taken'
  | 'sessions_ended'
  | 'wrong_passwords'
  | 'wrong_codes'
  | 'security_changed'
  | 'retention_changed'
  | 'text_changed'
  | 'page_words_changed'
  | 'key_made'
  | 'break_glass_used'
  | 'identity_linked'
  | 'secret_ending'
  | 'domain_failing'
  | 'domain_lost'
  | 'organization_ending'
  | 'organization_ending_soon'
  | 'organization_kept'

/**
 * Facts in a security mail.
 *
 * @property address network and browser of the action. @property person who did it to somebody else. @property called name of the
 * subject. @property before earlier roles. @property until ISO 8601 time from which the change applies.
 */
export type SecurityFacts = {
  address?: string
  userAgent?: string
  person?: string
  called?: string
  until?: string
  before?: string[]
  after?: string[]
}

/**
 * Counts in a digest.
 *
 * @property fresh new since the last weekday. @property withoutGrader answers that no member fits, by the code of their language.
 */
export type DigestFacts = {
  count?: number
  fresh?: number
  withoutGrader?: { language: string | null; count: number }[]
}

/** Example candidates for previews, by the difficulty of their names. */
export const EXAMPLE_NAMES = ['plain', 'long', 'arabic', 'none'] as const
export type ExampleName = (typeof EXAMPLE_NAMES)[number]

/** Text to test, as it was typed; it may never be saved. Empty: the service's text. */
export type TestedText = {
  kind: TemplateKind
  language: string
  /** Name of the assessment; null: any. */
  assessment: string | null
  who: ExampleName
  subject: string
  body: string
}

const include = {
  link: { include: { credential: { select: { email: true, language: true } } } },
  member: {
    include: {
      user: true,
      organization: {
        select: {
          ...BRAND,
          senderName: true,
          invitationText: true,
          language: true,
          timeZone: true,
          suspension: { select: { id: true } },
        },
      },
      credential: { select: { email: true, language: true } },
    },
  },
  webhook: { select: { url: true, state: true, disabledReason: true, failingSince: true } },
} satisfies Prisma.MemberEmailInclude

/** A mail to a member, with all its data. */
export type MemberEmail = Prisma.MemberEmailGetPayload<{ include: typeof include }>

type About = {
  kind: MemberEmailKind
  linkId?: string
  webhookId?: string
  dedupeKey?: string
  facts?: DigestFacts | SecurityFacts | TestedText
}
type Inside = Pick<Context, 'db' | 'deps' | 'origin'> & { organization: { id: string } }

/**
 * Creates an email to a member and its job, in the open transaction.
 *
 * @param email.dedupeKey the same key is sent to the member once. @param email.facts security emails also get the request's origin.
 * @returns false if an email with the key exists.
 */
export async function queueMemberEmail(ctx: Inside, { facts, ...email }: About & { memberId: string }): Promise<boolean> {
  const { db, deps, organization, origin } = ctx
  const now = deps.clock()
  const from = origin && { address: origin.address, userAgent: origin.userAgent.slice(0, MAX_USER_AGENT_LENGTH) }
  const row = { id: deps.newId(), ...email, createdAt: now, updatedAt: now }
  const insertion = db
    .insertInto('memberEmails')
    .values({ ...row, facts: facts ? sql`${JSON.stringify({ ...from, ...facts })}::jsonb` : null })
    .onConflict((conflict) =>
      conflict.columns(['organizationId', 'memberId', 'dedupeKey']).where('dedupeKey', 'is not', null).doNothing(),
    )
  if ((await affectedRows(insertion)) === 0) return false
  await deps.queue.enqueueMemberEmails(db, [{ id: row.id, organizationId: organization.id }])
  return true
}

/** Adds a mail for each active admin of the organization to the transaction. */
export async function queueAdminEmails(ctx: Inside, email: About): Promise<void> {
  const where = { organizationId: ctx.organization.id, status: 'active', roles: { has: 'admin' } } as const
  const admins = await ctx.db.member.findMany({ where, select: { id: true } })
  for (const { id: memberId } of admins) await queueMemberEmail(ctx, { ...email, memberId })
}

/** Adds a mail for each active owner to the transaction; where no owner is named yet, for each admin. */
export async function queueOwnerEmails(ctx: Inside, email: About): Promise<void> {
  const { id: organizationId } = ctx.organization
  const named = { where: { id: organizationId, ownerNamedAt: { not: null } } }
  const whereOwner =
    (await ctx.db.organization.count(named)) > 0 ? { portalRoles: { has: 'owner' } } : { roles: { has: 'admin' } }
  const owners = await ctx.db.member.findMany({
    where: { organizationId, status: 'active', ...whereOwner },
    select: { id: true },
  })
  for (const { id: memberId } of owners) await queueMemberEmail(ctx, { ...email, memberId })
}

/** Name of the acting member; undefined for other actors. */
export async function nameActor({ db, actor, organization }: Context): Promise<string | undefined> {
  if (actor.kind !== 'member') return undefined
  const { user } = await db.member.findUniqueOrThrow({
    where: { organizationId: organization.id, id: actor.id },
    select: { user: true },
  })
  return displayNameOf(user)
}

/** Emails of these jobs in any order, without deleted ones. */
export const findMemberEmails = ({ db }: ServiceContext, refs: QueuedRef[]): Promise<MemberEmail[]> =>
  readMemberEmails(db, { where: rowsOf(refs) })

/** Null if the email does not exist. */
export const findMemberEmail = async ({ db }: ServiceContext, id: string): Promise<MemberEmail | null> =>
  isUuid(id) ? ((await readMemberEmails(db, { where: { id } }))[0] ?? null) : null

/** The newest mails of all organizations by their ids, which rise with time. @param before only mails older than the mail with this id. */
export const listMemberEmails = (
  { db }: ServiceContext,
  { state, before, limit }: { state?: EmailState; before?: string; limit: number },
): Promise<MemberEmail[]> =>
  readMemberEmails(db, {
    where: omitUndefined({ state, id: before === undefined ? undefined : { lt: before } }),
    orderBy: { id: 'desc' },
    take: limit,
  })

async function readMemberEmails(
  db: Connection,
  query: Omit<Prisma.MemberEmailFindManyArgs, 'include' | 'select'>,
): Promise<MemberEmail[]> {
  const emails = await db.memberEmail.findMany({ ...query, include, relationLoadStrategy: 'join' })
  await loadZones(
    db,
    emails.map(({ member }) => member.organization.timeZone),
  )
  return emails
}

/**
 * Recipient: a link to set a password goes to the account's address; a test goes to the address that its reader signs in with,
 * which nobody else can change.
 */
export const recipientOf = ({ kind, member, link }: MemberEmail): string =>
  (kind === 'text_test' ? member.credential : link?.credential)?.email ?? member.email

/**
 * Kinds that a suspended organization doesn't send. Mails to set a password are sent, so that an owner can keep the organization.
 */
const NOT_WHILE_SUSPENDED: ReadonlySet<string> = new Set<MemberEmailKind>([
  'join',
  'webhook_failing',
  'webhook_disabled',
  'text_test',
  ...DIGESTS,
])

/** Reason not to send a mail any more; null: send it. */
export function whyMemberEmailObsolete({ kind, member, link, webhook }: MemberEmail, now: Date): string | null {
  if (member.organization.suspension && NOT_WHILE_SUSPENDED.has(kind)) return 'Not sent: the organization is to be erased.'
  if (member.status !== 'active') return 'Not sent: the member is not active any more.'
  if (link && (link.usedAt || link.expiresAt <= now)) return 'Not sent: the link can not be used any more.'
  if (isDigest(kind) && !member.notices.includes(kind)) return 'Not sent: these mails were switched off.'
  if (kind === 'webhook_failing' && !webhook?.failingSince) return 'Not sent: the webhook works again.'
  if (kind === 'webhook_disabled' && webhook?.state !== 'disabled') return 'Not sent: the webhook is active again.'
  return null
}

/** Records the outcome of one attempt to send. A mail that another attempt has finished stays as it is. */
export async function recordMemberEmailAttempt(
  { db, deps }: ServiceContext,
  { id, organizationId }: Pick<MemberEmailRow, 'id' | 'organizationId'>,
  outcome: SendOutcome,
): Promise<void> {
  if (outcome.state === 'delayed') throw new Error('No mail to a member is held back')
  const now = deps.clock()
  const sentAt = outcome.state === 'sent' || outcome.state === 'captured' ? now : null
  await db.memberEmail.updateMany({
    where: { organizationId, id, state: 'queued' satisfies EmailState },
    data: { reason: '', ...outcome, attempts: { increment: 1 }, updatedAt: now, sentAt },
  })
}

/** Marks an email as failed after its last retry. The reason of the last attempt stays. */
export async function giveUpMemberEmail({ db, deps }: ServiceContext, { id, organizationId }: QueuedRef): Promise<void> {
  const data = { state: 'failed', failure: 'given_up', updatedAt: deps.clock() } satisfies Partial<MemberEmailRow>
  await db.memberEmail.updateMany({ where: { organizationId, id, state: 'queued' }, data })
}

/** Queues mails again, all or none: the failed one with the id, or all that are meant. @returns how many. */
export async function retryMemberEmails(
  ctx: ServiceContext,
  { id, ...selection }: RetrySelection & { id?: string },
): Promise<number> {
  if (id !== undefined && !isUuid(id)) return 0
  return inTransaction(ctx, async ({ db, deps: { clock, queue } }) => {
    const failed = await db.memberEmail.updateManyAndReturn({
      where: { ...toRetry(selection), ...omitUndefined({ id }) },
      data: { state: 'queued', failure: null, sentAt: null, updatedAt: clock() },
      select: { id: true, organizationId: true },
    })
    await queue.enqueueMemberEmails(db, failed)
    return failed.length
  })
}

/** The number of queued mails, and the time of the oldest. */
export async function measureMemberEmailQueue({ db }: Pick<ServiceContext, 'db'>): Promise<EmailQueue> {
  const { _count, _min } = await db.memberEmail.aggregate({ where: { state: 'queued' }, _count: true, _min: { createdAt: true } })
  return { waiting: _count, oldest: _min.createdAt }
}

/** Counts failed mails to members as measureFailedEmails counts invitations. */
export async function measureFailedMemberEmails({ db }: Pick<ServiceContext, 'db'>, since: Date): Promise<FailedEmails> {
  const countFailed = (failure: EmailFailure) =>
    db.memberEmail.count({ where: { state: 'failed', failure, updatedAt: { gte: since } } })
  return {
    failed: await db.memberEmail.count({ where: { state: 'failed' } }),
    refused: await countFailed('refused'),
    givenUp: await countFailed('given_up'),
    sent: await db.memberEmail.count({ where: { state: 'sent', createdAt: { gte: since } } }),
  }
}

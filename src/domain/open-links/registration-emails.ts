import type { EmailState, Prisma } from '../../generated/prisma/client.ts'
import { loadZones } from '../concurrency/load-zones.ts'
import { type QueuedRef, rowsOf } from '../concurrency/queued-ref.ts'
import type { Context, ServiceContext } from '../context.ts'
import { suppressAddressOf } from '../invites/suppress-bounced.ts'
import { findSuppressionReason } from '../invites/suppressions.ts'
import { classifyBounce, findStatusCode } from '../mails/classify-bounce.ts'
import type { EmailQueue, SendOutcome } from '../mails/send-outcome.ts'
import { isUuid } from '../text/uuid.ts'
import { zoneOf } from '../time/zones.ts'
import { isVisible, LINK_INCLUDE } from './find-open-link.ts'
import { REGISTRATION_MS } from './limits.ts'

const include = { openLink: { include: LINK_INCLUDE } } satisfies Prisma.RegistrationInclude

/** A registration with everything that its mail shows. */
export type RegistrationEmail = Prisma.RegistrationGetPayload<{ include: typeof include }>

async function readRegistrations(
  { db }: Pick<ServiceContext, 'db'>,
  query: Omit<Prisma.RegistrationFindManyArgs, 'include' | 'select'>,
): Promise<RegistrationEmail[]> {
  const found = await db.registration.findMany({ ...query, include, relationLoadStrategy: 'join' })
  await loadZones(
    db,
    found.map(({ openLink: { assessment } }) => zoneOf({ timeZone: null, organization: assessment.organization })),
  )
  return found
}

/** The existing registrations of these jobs, in no particular order. */
export const findRegistrationEmails = (ctx: ServiceContext, refs: QueuedRef[]): Promise<RegistrationEmail[]> =>
  readRegistrations(ctx, { where: rowsOf(refs) })

/** Null if the registration does not exist. */
export const findRegistration = async (ctx: ServiceContext, id: string): Promise<RegistrationEmail | null> =>
  isUuid(id) ? ((await readRegistrations(ctx, { where: { id } }))[0] ?? null) : null

/** The newest mails of all organizations, by their ids, which rise with time. */
export const listRegistrationEmails = (
  ctx: ServiceContext,
  { state, before, limit }: { state?: EmailState; before?: string; limit: number },
): Promise<RegistrationEmail[]> =>
  readRegistrations(ctx, {
    where: { state: state ?? { not: 'waiting' }, ...(before !== undefined && { id: { lt: before } }) },
    orderBy: { id: 'desc' },
    take: limit,
  })

/** The newest mails of a test link. They are captured, so members open their links in the portal. */
export const listCapturedRegistrations = (ctx: Context, assessmentId: string, limit: number): Promise<RegistrationEmail[]> =>
  readRegistrations(ctx, {
    where: { organizationId: ctx.organization.id, mode: 'test', state: 'captured', openLink: { assessmentId } },
    orderBy: { id: 'desc' },
    take: limit,
  })

/** Reason not to send the mail any more, or null. */
export function whyRegistrationObsolete({ openLink, inviteId }: RegistrationEmail, now: Date): string | null {
  if (!isVisible(openLink)) return 'Not sent: the open link is off.'
  if (openLink.closesAt && openLink.closesAt <= now) return 'Not sent: the open link is closed.'
  return inviteId === null ? null : 'Not sent: the visitor has begun.'
}

export const whyRegistrationSuppressed = (
  system: ServiceContext,
  { organizationId, mode, email: recipientEmail }: RegistrationEmail,
): Promise<string | null> =>
  findSuppressionReason(system, { organizationId, kind: 'invitation', invite: { mode, recipientEmail } })

/** Records the outcome of one attempt. A mail that another attempt has finished stays as it is. A server's immediate rejection counts as a bounce. */
export async function recordRegistrationAttempt(
  system: ServiceContext,
  { id, organizationId }: QueuedRef,
  outcome: SendOutcome,
): Promise<void> {
  const { db, deps } = system
  if (outcome.state === 'delayed') throw new Error('No mail of a registration is delayed')
  const now = deps.clock()
  const isSent = outcome.state === 'sent' || outcome.state === 'captured'
  const ended = outcome.state === 'queued' ? {} : { expiresAt: new Date(now.getTime() + REGISTRATION_MS) }
  const isRefused = outcome.state === 'failed' && outcome.failure === 'refused'
  const bounce = isRefused ? classifyBounce(findStatusCode(outcome.reason)) : null
  await db.registration.updateMany({
    where: { organizationId, id, state: 'queued' },
    data: { reason: '', ...outcome, ...ended, bounce, attempts: { increment: 1 }, sentAt: isSent ? now : null },
  })
  if (bounce) await suppressAddressOf(system, id, bounce)
}

/** Marks a mail without retries left as failed; the reason of its last attempt is kept. */
export async function giveUpRegistration({ db, deps }: ServiceContext, { id, organizationId }: QueuedRef): Promise<void> {
  const expiresAt = new Date(deps.clock().getTime() + REGISTRATION_MS)
  await db.registration.updateMany({
    where: { organizationId, id, state: 'queued' },
    data: { state: 'failed', failure: 'given_up', expiresAt },
  })
}

/** The number of queued mails, and the time of the oldest. */
export async function measureRegistrationQueue({ db }: Pick<ServiceContext, 'db'>): Promise<EmailQueue> {
  const { _count, _min } = await db.registration.aggregate({
    where: { state: 'queued' },
    _count: true,
    _min: { queuedAt: true },
  })
  return { waiting: _count, oldest: _min.queuedAt }
}

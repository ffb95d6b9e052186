import { type Session, sessionOf } from '../../db/client.ts'
import { anyOfIds } from '../../db/queries.ts'
import { tenantDb } from '../../db/tenant-db.ts'
import { unscoped } from '../../db/unscoped.ts'
import type { Prisma } from '../../generated/prisma/client.ts'
import { bisectBatch, type FailedItem, processEach, throwFirstFailure } from '../concurrency/bisect.ts'
import type { Context, ServiceContext } from '../context.ts'
import { EVENT_COLUMNS, type EventInvite, inviteEvents } from '../events/event.ts'
import { recordEvents } from '../events/record-events.ts'
import { inTransaction } from '../transaction.ts'
import { EXPIRING_STATUSES, isDue } from './expiry.ts'

/** The updates in progress, by organization: simultaneous lists share one. */
const running = new WeakMap<Session, Map<string, Promise<unknown>>>()

/**
 * Expires the organization's due invites, so that filters, orders, and counts are right as of now. Skips rows that another transaction has
 * locked, and invites that the sweep failed to expire.
 */
export async function expireDueInvites(ctx: Context): Promise<void> {
  const { id } = ctx.organization
  const session = sessionOf(ctx.db)
  const byOrganization = running.get(session) ?? new Map<string, Promise<unknown>>()
  running.set(session, byOrganization)
  const shared = byOrganization.get(id) ?? expireDue(ctx, id).finally(() => byOrganization.delete(id))
  byOrganization.set(id, shared)
  await shared
}

/**
 * Expires due invites of all organizations, one after another, so that an error in one doesn't stop the others.
 *
 * @returns the number of expired invites.
 */
export async function expireAllDueInvites(ctx: ServiceContext): Promise<number> {
  const organizations = await unscoped(ctx.db)
    .selectFrom('organizations')
    .select('organizations.id')
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('invites')
          .select('invites.id')
          .whereRef('invites.organizationId', '=', 'organizations.id')
          .where((eb) => isDue(eb, ctx.deps.clock())),
      ),
    )
    .orderBy('organizations.id')
    .execute()
  let expired = 0
  const failed: FailedItem<unknown>[] = []
  const failedOrganizations = await processEach(organizations, async ({ id }) => {
    const outcome = await expireDue(ctx, id)
    expired += outcome.expired
    failed.push(...outcome.failed)
  })
  throwFirstFailure([...failed, ...failedOrganizations])
  return expired
}

/** Invites per statement. A whole campaign may expire at once, which would exceed the statement timeout. */
const EXPIRED_AT_ONCE = 2_000

type DueInvite = { id: string; expiresAt: Date }

async function expireDue(
  ctx: ServiceContext,
  organizationId: string,
): Promise<{ expired: number; failed: FailedItem<DueInvite>[] }> {
  let expired = 0
  const failed: FailedItem<DueInvite>[] = []
  for (let after: DueInvite | undefined; ; ) {
    const batch = await findDue(ctx, organizationId, after)
    const failedNow = await bisectBatch(batch, async (part) => {
      expired += await inTransaction(ctx, (inside) => expireBatch(inside, organizationId, part))
    })
    failed.push(...failedNow)
    if (batch.length < EXPIRED_AT_ONCE) return { expired, failed }
    after = batch.at(-1)
  }
}

function findDue({ db, deps }: ServiceContext, organizationId: string, after: DueInvite | undefined): Promise<DueInvite[]> {
  const dueInvites = tenantDb(db, { organization: { id: organizationId }, mode: 'all' })
    .selectFrom('invites')
    .where((eb) => isDue(eb, deps.clock()))
  const further = after
    ? dueInvites.where(({ eb, refTuple, tuple }) => eb(refTuple('expiresAt', 'id'), '>', tuple(after.expiresAt, after.id)))
    : dueInvites
  return further.select(['id', 'expiresAt']).orderBy('expiresAt').orderBy('id').limit(EXPIRED_AT_ONCE).execute()
}

async function expireBatch(ctx: ServiceContext, organizationId: string, due: DueInvite[]): Promise<number> {
  const db = tenantDb(ctx.db, { organization: { id: organizationId }, mode: 'all' })
  // Locks rows in a fixed order, so that two such updates can't deadlock.
  const dueInvites = db
    .selectFrom('invites')
    .select('invites.id')
    .where((eb) => isDue(eb, ctx.deps.clock()))
    .where('invites.id', '=', anyOfIds(due.map(({ id }) => id)))
    .forNoKeyUpdate()
    .skipLocked()
  const expired = await unscoped(ctx.db)
    .with(
      (cte) => cte('due').materialized(),
      () => dueInvites,
    )
    .updateTable('invites')
    .from('due')
    .whereRef('invites.id', '=', 'due.id')
    .set(({ ref }) => ({ status: 'expired', updatedAt: ref('invites.expiresAt') }))
    .returning(EVENT_COLUMNS)
    .execute()
  await recordExpiry(ctx, expired)
  return expired.length
}

/** The actor is the system, also if a request found the due invite. */
const recordExpiry = (ctx: ServiceContext, expired: EventInvite[]): Promise<void> =>
  recordEvents({ ...ctx, actor: { kind: 'system' } }, expired.map(inviteEvents.expired))

/** Sets one invite to expired if it is due, before something that goes by the stored status. */
export async function expireIfDue(ctx: Context, where: Prisma.InviteWhereInput): Promise<void> {
  const whereDue = { ...where, status: { in: [...EXPIRING_STATUSES] }, expiresAt: { lte: ctx.deps.clock() } }
  const [found] = await ctx.db.invite.findMany({ where: whereDue, select: { id: true, expiresAt: true } })
  if (!found) return
  await inTransaction(ctx, async (inside) => {
    const data = { status: 'expired', updatedAt: found.expiresAt } as const
    await recordExpiry(inside, await inside.db.invite.updateManyAndReturn({ where: whereDue, data }))
  })
}

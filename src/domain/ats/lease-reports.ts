import { sql } from '../../db/builder.ts'
import { isNotSuspended, sameOrganization } from '../../db/queries.ts'
import { unscoped } from '../../db/unscoped.ts'
import type { Prisma } from '../../generated/prisma/client.ts'
import type { Connection, Context, KeyMode, ServiceContext } from '../context.ts'
import type { Ats } from '../ports/ats-settings.ts'
import { type DueSendings, grantedRows } from '../webhooks/due-sendings.ts'
import { enabledSystems } from './connections.ts'
import { type Credentials, decryptCredentials } from './keys.ts'
import type { OrderStatus } from './order-status.ts'

// Any process leases reports, one of each order at a time.

/** Longer than an attempt takes. After that another process attempts the reports of a killed one. */
const LEASE_SECONDS = 20

/** A report that this process is to attempt now. */
export type LeasedReport = {
  report: { id: string; status: OrderStatus; happenedAt: Date; attemptCount: number; leasedUntil: Date | null }
  connection: { id: string; ats: Ats; mode: KeyMode; organization: Context['organization'] }
  /** Null: a test of the connection, without an order. */
  order: { id: string; naturalKey: string; callbackUrl: string | null; inviteId: string } | null
  credentials: Credentials
}

/**
 * Connections with due reports. Only the first waiting report of an order is due, so that none overtakes another. Connections without a
 * valid key have none.
 *
 * @param most largest number to count per connection.
 */
export async function findDueReports(ctx: ServiceContext, most: number): Promise<DueSendings[]> {
  const enabled = enabledSystems(ctx)
  if (enabled.length === 0) return []
  const dueCounts = reachableConnections(ctx.db, enabled).crossJoinLateral((eb) =>
    eb
      .selectFrom(
        dueReports(ctx.db, ctx.deps.clock()).where('report.connectionId', '=', eb.ref('connection.id')).limit(most).as('first'),
      )
      .select(sql<number>`count(*)::int`.as('count'))
      .as('due'),
  )
  const rows = await dueCounts
    .where('due.count', '>', 0)
    .select(['connection.organizationId', 'connection.id as receiverId', 'due.count'])
    .execute()
  return rows.map((row) => ({ ...row, isReplay: false, isFailing: false }))
}

/**
 * Takes reports that are due: no other process attempts them while the lease lasts.
 *
 * @param granted how many to take of each connection at most.
 */
export async function leaseReports(ctx: ServiceContext, granted: readonly DueSendings[]): Promise<LeasedReport[]> {
  const leased = await leaseOfDue(ctx, granted).execute()
  const leasedReports: LeasedReport[] = []
  for (const { id, leasedUntil } of leased) {
    const row = await ctx.db.atsReport.findUnique({ where: { id }, include })
    if (!row) continue // deleted meanwhile, with its invite
    const { connection, order, status, happenedAt, attemptCount } = row
    const { id: connectionId, encryptedApiKey, ats, mode, organization, keys } = connection
    // The key that the ATS ordered with or, if that was revoked since, the last used one.
    const key = keys.find(({ id }) => id === order?.keyId) ?? keys[0]
    leasedReports.push({
      report: { id, status: status as OrderStatus, happenedAt, attemptCount, leasedUntil },
      connection: { id: connectionId, ats: ats as Ats, mode, organization },
      order: order && { ...order, inviteId: order.inviteId! },
      credentials: key
        ? decryptCredentials(ctx, { keyId: key.id, encryptedKey: key.encryptedKey, connectionId, encryptedApiKey })
        : { inboundKey: null, apiKey: null },
    })
  }
  return leasedReports
}

const include = {
  order: true,
  connection: {
    include: {
      organization: { select: { id: true, name: true, tier: true } },
      keys: { where: { revokedAt: null }, orderBy: [{ lastUsedAt: { sort: 'desc', nulls: 'last' } }, { id: 'desc' }] },
    },
  },
} satisfies Prisma.AtsReportInclude

const reachableConnections = (db: Connection, enabled: Ats[]) =>
  unscoped(db)
    .selectFrom('atsConnections as connection')
    .where('connection.ats', '=', sql<string>`any(${enabled}::text[])`)
    .where(isNotSuspended('connection'))
    .where(({ exists, selectFrom }) => {
      const keysOfConnection = selectFrom('atsKeys').where(sameOrganization('atsKeys', 'connection')).select('atsKeys.id')
      return exists(
        keysOfConnection.whereRef('atsKeys.connectionId', '=', 'connection.id').where('atsKeys.revokedAt', 'is', null),
      )
    })

const leaseOfDue = (ctx: ServiceContext, granted: readonly DueSendings[]) =>
  unscoped(ctx.db)
    .with(
      (cte) => cte('due').materialized(),
      () =>
        reachableConnections(ctx.db, enabledSystems(ctx))
          .innerJoin(grantedRows(granted), 'granted.id', 'connection.id')
          .crossJoinLateral((eb) =>
            dueReports(ctx.db, ctx.deps.clock())
              .where('report.connectionId', '=', eb.ref('connection.id'))
              .limit(eb.ref('granted.count'))
              .forUpdate('report')
              .skipLocked()
              .as('next'),
          )
          .select('next.id'),
    )
    .updateTable('atsReports')
    .from('due')
    .set({ leasedUntil: sql<Date>`clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})` })
    .whereRef('atsReports.id', '=', 'due.id')
    .returning(['atsReports.id', 'atsReports.leasedUntil'])

const dueReports = (db: Connection, now: Date) =>
  unscoped(db)
    .selectFrom('atsReports as report')
    .leftJoin('atsOrders as order', (join) =>
      join.on(sameOrganization('order', 'report')).onRef('order.id', '=', 'report.orderId'),
    )
    .select(['report.id', 'report.nextAttemptAt'])
    .where('report.state', '=', sql.lit('waiting'))
    .where('report.nextAttemptAt', '<=', now)
    .where('order.cancelledAt', 'is', null)
    .where(({ eb, or, ref }) => {
      const isOver = sql<boolean>`${ref('report.leasedUntil')} < clock_timestamp()`
      return or([eb('report.leasedUntil', 'is', null), isOver])
    })
    .where(({ eb, not, exists, selectFrom }) => {
      const waiting = selectFrom('atsReports as before').select('before.id').where('before.state', '=', sql.lit('waiting'))
      const before = waiting
        .whereRef('before.orderId', '=', 'report.orderId')
        .where(({ refTuple }) => eb(refTuple('before.position', 'before.id'), '<', eb.refTuple('report.position', 'report.id')))
      return not(exists(before))
    })
    .orderBy('report.nextAttemptAt')

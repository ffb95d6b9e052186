import { affectedRows } from '../../db/statements.ts'
import { unscoped } from '../../db/unscoped.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import { authorize } from '../authorization/permissions.ts'
import { repeatBatch } from '../concurrency/bisect.ts'
import type { Context, ServiceContext } from '../context.ts'
import { listPage, projectionOf, type RowOf } from '../lists/listing.ts'
import { type ListPage, NEWEST_FIRST, type PageRequest } from '../lists/page.ts'
import { daysAfter } from '../time/days.ts'
import type { ConnectionDetail } from './connections.ts'
import { atsOf } from './place-order.ts'

// Log of calls from and to applicant tracking systems.

const wholeCall = projectionOf('atsCalls', Prisma.AtsCallScalarFieldEnum)
export type AtsCall = RowOf<typeof wholeCall>
const callList = { table: 'atsCalls', filters: { connectionId: '=' } } as const

const REPORTS_KEPT_DAYS = 30
const REPORTS_AT_ONCE = 2_000

type IncomingCall = Pick<AtsCall, 'name' | 'status' | 'error' | 'milliseconds' | 'orderId'>

/** Records that an ATS has called. @param ctx of an ATS. */
export async function recordCall(ctx: Context, call: IncomingCall): Promise<void> {
  const { db, deps, organization } = ctx
  const key = { organizationId: organization.id, connectionId: atsOf(ctx).connectionId }
  await db.atsCall.create({ data: { ...call, ...key, id: deps.newId(), isInbound: true, createdAt: deps.clock() } })
}

/** The calls of a connection, the newest first. @throws DomainError not_permitted. */
export async function listCalls(ctx: Context, { id }: ConnectionDetail, page: PageRequest): Promise<ListPage<AtsCall>> {
  authorize(ctx, 'manage_ats')
  return listPage(ctx, callList, { projection: wholeCall, filter: { connectionId: id }, order: NEWEST_FIRST, page })
}

/** Deletes old reports, except those that are still waiting. */
export async function deleteExpiredReports({ db, deps }: ServiceContext): Promise<void> {
  const until = daysAfter(deps.clock(), -REPORTS_KEPT_DAYS)
  await repeatBatch(REPORTS_AT_ONCE, (atMost) => {
    const expiredReports = unscoped(db)
      .selectFrom('atsReports')
      .select('id')
      .where('queuedAt', '<=', until)
      .where('state', '<>', 'waiting')
    return affectedRows(unscoped(db).deleteFrom('atsReports').where('id', 'in', expiredReports.limit(atMost)))
  })
}

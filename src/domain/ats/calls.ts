import { affectedRows } from '../../db/statements.ts'
import { unscoped } from '../../db/unscoped.ts'
import type { AtsCall } from '../../generated/prisma/client.ts'
import { authorize } from '../authorization/permissions.ts'
import { repeatBatch } from '../concurrency/bisect.ts'
import type { Context, ServiceContext } from '../context.ts'
import { type Listing, type Page, readPage } from '../lists/page.ts'
import { DAY_MS } from '../time/days.ts'
import type { ConnectionDetail } from './connections.ts'
import { atsOf } from './place-order.ts'

// Log of calls from and to applicant tracking systems.

export type { AtsCall }
/** For so many days calls are kept, and reports that are over. */
export const CALLS_KEPT_DAYS = 30
const FORGOTTEN_AT_ONCE = 2_000

type IncomingCall = Pick<AtsCall, 'name' | 'status' | 'error' | 'milliseconds' | 'orderId'>

/** Records that an ATS has called. @param ctx of an ATS. */
export async function recordCall(ctx: Context, call: IncomingCall): Promise<void> {
  const { db, deps, organization } = ctx
  const own = { organizationId: organization.id, connectionId: atsOf(ctx).connectionId }
  await db.atsCall.create({ data: { ...call, ...own, id: deps.newId(), isInbound: true, createdAt: deps.clock() } })
}

/** The calls of a connection, the newest first. @throws DomainError not_permitted. */
export async function listCalls(ctx: Context, { id }: ConnectionDetail, page: Page): Promise<Listing<AtsCall>> {
  authorize(ctx, 'manage_ats')
  const where = { organizationId: ctx.organization.id, connectionId: id }
  const { atsCall } = ctx.db
  return readPage(
    page,
    () => atsCall.count({ where }),
    (window) => atsCall.findMany({ where, orderBy: [{ createdAt: 'desc' }, { id: 'desc' }], ...window }),
  )
}

/** Forgets old calls, and old reports that are over. */
export async function forgetOldReports({ db, deps }: ServiceContext): Promise<void> {
  const until = new Date(deps.clock().getTime() - CALLS_KEPT_DAYS * DAY_MS)
  await repeatBatch(FORGOTTEN_AT_ONCE, (atMost) => {
    const old = unscoped(db).selectFrom('atsCalls').select('id').where('createdAt', '<=', until).limit(atMost)
    return affectedRows(unscoped(db).deleteFrom('atsCalls').where('id', 'in', old))
  })
  await repeatBatch(FORGOTTEN_AT_ONCE, (atMost) => {
    const over = unscoped(db).selectFrom('atsReports').select('id').where('queuedAt', '<=', until).where('state', '<>', 'waiting')
    return affectedRows(unscoped(db).deleteFrom('atsReports').where('id', 'in', over.limit(atMost)))
  })
}

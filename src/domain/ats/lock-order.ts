import { affectedRows } from '../../db/statements.ts'
import { tenantDb } from '../../db/tenant-db.ts'
import type { Context, ServiceContext } from '../context.ts'

/** Locks an order until the transaction ends. Lock the order before changing it or its reports. */
export const lockOrder = (
  { db }: Pick<ServiceContext, 'db'>,
  organization: Context['organization'],
  id: string,
): Promise<number> =>
  affectedRows(
    tenantDb(db, { organization, mode: 'all' }).selectFrom('atsOrders').where('id', '=', id).select('id').forNoKeyUpdate(),
  )

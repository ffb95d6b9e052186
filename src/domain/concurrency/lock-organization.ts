import { affectedRows } from '../../db/statements.ts'
import type { Context } from '../context.ts'

/**
 * Locks the organization's row until the transaction ends, so that parallel requests count towards a limit one after the other. Rows that
 * refer to the organization can still be inserted. Lock it after any insert that may wait for a unique key: the other order can deadlock.
 */
export const lockOrganization = (inside: Pick<Context, 'db' | 'organization'>): Promise<number> =>
  affectedRows(inside.db.selectFrom('organizations').select('organizations.id').forNoKeyUpdate())

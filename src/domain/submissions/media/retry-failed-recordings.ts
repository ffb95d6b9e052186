import type { ServiceContext } from '../../context.ts'
import { isUuid } from '../../text/uuid.ts'
import { inTransaction } from '../../transaction.ts'
import { queueJoin } from './queue-join.ts'

/**
 * Queues failed recordings of all organizations again. Their parts are retained.
 *
 * @param id a recording; undefined: all failed ones except files with malware.
 * @returns how many.
 */
export async function retryFailedRecordings(system: ServiceContext, id?: string): Promise<number> {
  if (id !== undefined && !isUuid(id)) return 0
  return inTransaction(system, async (inside) => {
    const failed = await inside.db.mediaFile.updateManyAndReturn({
      where: { state: 'failed', ...(id === undefined ? { threat: null } : { id }) },
      data: { state: 'joining', failedJoins: 0 },
      select: { id: true, organizationId: true, key: true },
    })
    for (const recording of failed) await queueJoin(inside, recording)
    return failed.length
  })
}

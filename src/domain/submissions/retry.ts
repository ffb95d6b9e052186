import type { ServiceContext } from '../context.ts'
import { inTransaction } from '../transaction.ts'
import { isUuid } from '../uuid.ts'

/**
 * Has recordings that could not be joined tried again, whoever's: their parts are still there.
 *
 * @param id of one; undefined: all.
 * @returns how many.
 */
export async function retryFailedRecordings(system: ServiceContext, id?: string): Promise<number> {
  if (id !== undefined && !isUuid(id)) return 0
  return inTransaction(system, async ({ db, deps }) => {
    const failed = await db.media.updateManyAndReturn({
      where: { state: 'failed', ...(id !== undefined && { id }) },
      data: { state: 'joining' },
      select: { id: true },
    })
    for (const recording of failed) await deps.queue.enqueueRecording(db, recording.id)
    return failed.length
  })
}

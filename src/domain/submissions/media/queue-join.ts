import { sql } from '../../../db/builder.ts'
import { tenantDb } from '../../../db/tenant-db.ts'
import type { ServiceContext } from '../../context.ts'
import type { MediaFile } from './media.ts'

/** Delay of each waiting recording after the organization's previous one. */
const TURN_MS = 30_000

/** Delay per megabyte of a recording, and the highest total: after that it comes before any new one. */
const MEGABYTE_MS = 1_000
const LONGEST_MS = 600_000

/**
 * Queues joining a recording, in the open transaction. The earliest due recording is joined first. Organizations take turns and, within
 * one, its candidates, so that a single recording doesn't wait for many others of another candidate. The shortest of simultaneous
 * recordings comes first, so that a recording of two hours doesn't delay forty of a minute. No recording waits for one that arrived more
 * than ten minutes later.
 */
export async function queueJoin(
  { db, deps }: ServiceContext,
  { id, organizationId, key }: Pick<MediaFile, 'id' | 'organizationId' | 'key'>,
): Promise<void> {
  const tenant = tenantDb(db, { organization: { id: organizationId }, mode: 'all' })
  const recordings = tenant
    .selectFrom('mediaFiles')
    .where('state', '=', 'joining')
    .where('kind', 'in', ['answer', 'webcam', 'screen'])
    .select(['id', 'bytes', sql<number>`row_number() over (partition by submission_id order by completed_at, id)`.as('nth')])
  const turn = tenant
    .with('waiting', () => recordings)
    .selectFrom('waiting')
    .select(sql<number>`count(*)::int`.as('turn'))
    .select(({ selectFrom }) => selectFrom('waiting as itself').select('itself.bytes').where('itself.id', '=', id).as('bytes'))
    .where(({ eb, selectFrom }) => eb('waiting.nth', '<=', selectFrom('waiting as it').select('it.nth').where('it.id', '=', id)))
  const waiting = await turn.executeTakeFirstOrThrow()
  const length = Math.min((Number(waiting.bytes) / 1e6) * MEGABYTE_MS, LONGEST_MS)
  const dueAt = new Date(deps.clock().getTime() + waiting.turn * TURN_MS + length)
  await deps.queue.enqueueRecording(db, { mediaId: id, organizationId, key, dueAt })
}

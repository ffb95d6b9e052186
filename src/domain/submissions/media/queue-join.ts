import { sql } from '../../../db/builder.ts'
import { tenantDb } from '../../../db/tenant-db.ts'
import type { ServiceContext } from '../../context.ts'
import type { MediaFile } from './media.ts'

/** So much later than the one before it each recording of an organization is due, of those that wait at the same time. */
const TURN_MS = 30_000

/** So much later a recording is due for each megabyte of it, and at most for all of them: then it comes before whatever is new. */
const MEGABYTE_MS = 1_000
const LONGEST_MS = 600_000

/**
 * Queues joining a recording into one file, in the open transaction. What is due first is joined first, so that who sends many at once waits behind
 * who sends one, for some minutes: organizations have their turns beside each other, and within one its candidates. Of what comes at the
 * same time the shortest is first, so that one of two hours does not hold up forty of a minute; but none waits behind what came ten minutes
 * after it.
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

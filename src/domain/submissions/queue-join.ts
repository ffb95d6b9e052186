import type { ServiceContext } from '../context.ts'
import type { Media } from './media.ts'

/** So much later than the one before it each recording of an organization is due, of those that wait at the same time. */
const TURN_MS = 30_000

/**
 * Has a recording made one file, in the open transaction. What is due first is joined first, so that who sends many at once waits behind
 * who sends one, for some minutes: organizations have their turns beside each other, and within one its candidates.
 */
export async function queueJoin({ db, deps }: ServiceContext, { id, organizationId }: Pick<Media, 'id' | 'organizationId'>) {
  const [waiting] = await db.$queryRaw<{ turn: bigint }[]>`
    WITH waiting AS (
      SELECT id, row_number() OVER (PARTITION BY submission_id ORDER BY completed_at, id) AS nth FROM media
      WHERE organization_id = ${organizationId}::uuid AND state = 'joining' AND kind IN ('answer', 'webcam', 'screen')
    )
    SELECT count(*) AS turn FROM waiting WHERE nth <= (SELECT nth FROM waiting WHERE id = ${id}::uuid)`
  const dueAt = new Date(deps.clock().getTime() + Number(waiting?.turn ?? 0) * TURN_MS)
  await deps.queue.enqueueRecording(db, { mediaId: id, organizationId, dueAt })
}

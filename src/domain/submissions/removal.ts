import type { ServiceContext } from '../context.ts'
import { folderOf, type Media } from './media.ts'

/** A part that was on its way when its recording was deleted has arrived by then. */
const STRAY_MS = 60_000
/** Files that the store refuses to delete are left alone for so long. */
const REFUSED_MS = 3_600_000
/** So many refusals in one sweep mean that the store is away, and each may have taken its time: the rest is left to the next sweep. */
const MAX_REFUSALS = 5
/** Media of one statement, and statements of one sweep: the other parts of the sweep do not wait for more. */
const FOUND_AT_ONCE = 100
const BATCHES = 20

type Removable = Pick<Media, 'id' | 'key' | 'refusedAt'>
type Refused = Removable & { err: unknown }

/**
 * Removes the files of media that are marked as deleted, of all organizations, for the scheduled sweep. Those that the store does not
 * delete hold up no others: they are tried again every hour, and the log tells of each once.
 */
export async function removeFiles(system: ServiceContext): Promise<void> {
  for (let batch = 0; batch < BATCHES; batch++) {
    const removable = await findRemovable(system)
    const { removed, refused } = await removeBatch(system, removable)
    await markRemoved(system, removed)
    await setAside(system, refused)
    if (removable.length < FOUND_AT_ONCE || refused.length === MAX_REFUSALS) return
  }
}

/** The state stands in the statement because an index of some states serves no parameter. */
function findRemovable({ db, deps }: ServiceContext): Promise<Removable[]> {
  const before = (ms: number) => new Date(deps.clock().getTime() - ms)
  return db.$queryRaw<Removable[]>`
    SELECT id, key, refused_at AS "refusedAt" FROM media
    WHERE state = 'deleted' AND removed_at IS NULL AND deleted_at <= ${before(STRAY_MS)}
      AND (refused_at IS NULL OR refused_at <= ${before(REFUSED_MS)})
    ORDER BY deleted_at LIMIT ${FOUND_AT_ONCE}`
}

async function removeBatch(
  { deps }: ServiceContext,
  removable: Removable[],
): Promise<{ removed: Removable[]; refused: Refused[] }> {
  const removed: Removable[] = []
  const refused: Refused[] = []
  for (const media of removable) {
    await deps.media.deletePrefix(folderOf(media.key)).then(
      () => removed.push(media),
      (err) => refused.push({ ...media, err }),
    )
    if (refused.length === MAX_REFUSALS) break
  }
  return { removed, refused }
}

const idsOf = (media: Removable[]): string[] => media.map(({ id }) => id)

/** Their parts are known no more, their bytes count no more, and what was still being recorded into them is no attempt any more. */
async function markRemoved({ db, deps }: ServiceContext, removed: Removable[]): Promise<void> {
  if (removed.length === 0) return
  await db.$executeRaw`
    WITH removed AS (
      UPDATE media SET removed_at = ${deps.clock()} WHERE id = ANY(${idsOf(removed)}::uuid[]) AND removed_at IS NULL
      RETURNING organization_id, submission_id, id, bytes
    ), abandoned AS (
      UPDATE takes t SET state = 'abandoned', completed_at = NULL FROM removed r
      WHERE t.organization_id = r.organization_id AND t.media_id = r.id AND t.state = 'recording'
    ), parts AS (
      DELETE FROM media_parts p USING removed r WHERE p.organization_id = r.organization_id AND p.media_id = r.id
    ), freed AS (
      SELECT organization_id, submission_id, sum(bytes) AS bytes FROM removed GROUP BY organization_id, submission_id
    )
    UPDATE submissions s SET media_bytes = s.media_bytes - freed.bytes
    FROM freed WHERE s.organization_id = freed.organization_id AND s.id = freed.submission_id`
}

async function setAside({ db, deps }: ServiceContext, refused: Refused[]): Promise<void> {
  if (refused.length === 0) return
  await db.media.updateMany({ where: { id: { in: idsOf(refused) } }, data: { refusedAt: deps.clock() } })
  const [first, ...others] = refused.filter(({ refusedAt }) => refusedAt === null)
  if (!first) return
  deps.log.error(
    { err: first.err, keys: [first, ...others].map(({ key }) => key) },
    'the media store does not delete the files of deleted media: see that the service may delete there; it is tried again every hour',
  )
}

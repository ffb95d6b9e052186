import { sql } from '../../../db/builder.ts'
import { anyOfIds } from '../../../db/queries.ts'
import { unscoped } from '../../../db/unscoped.ts'
import { startTimeBudget } from '../../concurrency/sweep-parts.ts'
import type { ServiceContext } from '../../context.ts'
import { folderOf } from '../../files/media-keys.ts'
import type { MediaFile } from './media.ts'

/** A part that was on its way when its recording was deleted has arrived by then. */
const STRAY_MS = 60_000
/** Time after which files that the store refused to delete are tried again. */
const REFUSED_MS = 3_600_000
/** After this many refusals in one sweep, the store is taken to be unavailable, and the next sweep continues. */
const MAX_REFUSALS = 5
/** Media of one statement. */
const FOUND_AT_ONCE = 100

type Removable = Pick<MediaFile, 'id' | 'key' | 'refusedAt'>
type RefusedFile = Removable & { err: unknown }

/** Table that names files to remove. */
type Source = {
  find: (system: ServiceContext) => Promise<Removable[]>
  markRemoved: (system: ServiceContext, removed: Removable[]) => Promise<void>
  setAside: (system: ServiceContext, ids: string[], refusedAt: Date) => Promise<unknown>
}

/** Media that are marked as deleted. */
const deletedMedia: Source = {
  find: findDeleted,
  markRemoved,
  setAside: ({ db }, ids, refusedAt) => db.mediaFile.updateMany({ where: { id: { in: ids } }, data: { refusedAt } }),
}
/** Files of deleted rows. */
const orphanedFiles: Source = {
  find: findLeftovers,
  async markRemoved({ db }, removed) {
    await db.deletedMediaFile.deleteMany({ where: { id: { in: idsOf(removed) } } })
  },
  setAside: ({ db }, ids, refusedAt) => db.deletedMediaFile.updateMany({ where: { id: { in: ids } }, data: { refusedAt } }),
}

/**
 * Deletes the files of deleted media from the store, for the scheduled sweep. Failures don't stop others: they are retried every hour, and
 * logged once.
 */
export async function removeFiles(system: ServiceContext): Promise<void> {
  for (const source of [deletedMedia, orphanedFiles]) await removeFrom(source, system)
}

async function removeFrom(source: Source, system: ServiceContext): Promise<void> {
  for (const isOver = startTimeBudget(); !isOver(); ) {
    const removable = await source.find(system)
    const { removed, refused } = await removeBatch(system, removable)
    await source.markRemoved(system, removed)
    await setAside(source, system, refused)
    if (removable.length < FOUND_AT_ONCE || refused.length === MAX_REFUSALS) return
  }
}

const timesOf = ({ deps }: ServiceContext) => {
  const before = (ms: number) => new Date(deps.clock().getTime() - ms)
  return { arrived: before(STRAY_MS), refused: before(REFUSED_MS) }
}

/** The state is a literal, because a partial index doesn't serve parameters. */
function findDeleted(system: ServiceContext): Promise<Removable[]> {
  const { arrived, refused } = timesOf(system)
  const removable = unscoped(system.db)
    .selectFrom('mediaFiles')
    .select(['id', 'key', 'refusedAt'])
    .where('state', '=', sql.lit('deleted'))
    .where('removedAt', 'is', null)
    .where('deletedAt', '<=', arrived)
    .where(({ eb, or }) => or([eb('refusedAt', 'is', null), eb('refusedAt', '<=', refused)]))
    .orderBy('deletedAt')
    .limit(FOUND_AT_ONCE)
  return removable.execute()
}

function findLeftovers(system: ServiceContext): Promise<Removable[]> {
  const { arrived, refused } = timesOf(system)
  return system.db.deletedMediaFile.findMany({
    where: { deletedAt: { lte: arrived }, OR: [{ refusedAt: null }, { refusedAt: { lte: refused } }] },
    select: { id: true, key: true, refusedAt: true },
    orderBy: { deletedAt: 'asc' },
    take: FOUND_AT_ONCE,
  })
}

async function removeBatch(
  { deps }: ServiceContext,
  removable: Removable[],
): Promise<{ removed: Removable[]; refused: RefusedFile[] }> {
  const removed: Removable[] = []
  const refused: RefusedFile[] = []
  for (const file of removable) {
    await deps.media.deletePrefix(folderOf(file.key)).then(
      () => removed.push(file),
      (err) => refused.push({ ...file, err }),
    )
    if (refused.length === MAX_REFUSALS) break
  }
  return { removed, refused }
}

const idsOf = (removable: Removable[]): string[] => removable.map(({ id }) => id)

/** Deletes the records of parts and bytes, and abandons attempts in progress. */
async function markRemoved({ db, deps }: ServiceContext, removed: Removable[]): Promise<void> {
  if (removed.length === 0) return
  const mark = unscoped(db)
    .updateTable('mediaFiles')
    .set({ removedAt: deps.clock() })
    .where('mediaFiles.id', '=', anyOfIds(idsOf(removed)))
    .where('mediaFiles.removedAt', 'is', null)
  const free = unscoped(db)
    .with('removed', () =>
      mark.returning(['mediaFiles.organizationId', 'mediaFiles.submissionId', 'mediaFiles.id', 'mediaFiles.bytes']),
    )
    .with('abandoned', (withRemoved) =>
      withRemoved
        .updateTable('answerAttempts')
        .from('removed')
        .set({ state: 'abandoned', completedAt: null })
        .whereRef('answerAttempts.organizationId', '=', 'removed.organizationId')
        .whereRef('answerAttempts.mediaId', '=', 'removed.id')
        .where('answerAttempts.state', '=', 'recording')
        .returning('answerAttempts.id'),
    )
    .with('parts', (withRemoved) =>
      withRemoved
        .deleteFrom('mediaFileParts')
        .using('removed')
        .whereRef('mediaFileParts.organizationId', '=', 'removed.organizationId')
        .whereRef('mediaFileParts.mediaId', '=', 'removed.id')
        .returning('mediaFileParts.number'),
    )
    .with('freed', (withRemoved) =>
      withRemoved
        .selectFrom('removed')
        .select(({ fn }) => ['removed.organizationId', 'removed.submissionId', fn.sum<string>('removed.bytes').as('bytes')])
        .groupBy(['removed.organizationId', 'removed.submissionId']),
    )
    .updateTable('submissions')
    .from('freed')
    .set(({ ref }) => ({ mediaBytes: sql<string>`${ref('submissions.mediaBytes')} - ${ref('freed.bytes')}` }))
    .whereRef('submissions.organizationId', '=', 'freed.organizationId')
    .whereRef('submissions.id', '=', 'freed.submissionId')
  await free.execute()
}

async function setAside(source: Source, system: ServiceContext, refused: RefusedFile[]): Promise<void> {
  const { deps } = system
  if (refused.length === 0) return
  await source.setAside(system, idsOf(refused), deps.clock())
  const [first, ...otherFiles] = refused.filter(({ refusedAt }) => refusedAt === null)
  if (!first) return
  deps.log.error(
    { err: first.err, keys: [first, ...otherFiles].map(({ key }) => key) },
    'the media store does not delete files: check the permissions; the service retries each hour',
  )
}

import type { ServiceContext } from '../context.ts'
import { inTransaction } from '../transaction.ts'
import { folderOf, type Media } from './media.ts'

/** A part that was on its way when its recording was deleted has arrived by then. */
const STRAY_MS = 60_000
/** Files that the store refuses to delete are left alone for so long. */
const REFUSED_MS = 3_600_000
/** So many refusals in one sweep mean that the store is away, and each may have taken its time: the rest is left to the next sweep. */
const MAX_REFUSALS = 5
/** Media of one statement. */
const FOUND_AT_ONCE = 100

type Removable = Pick<Media, 'id' | 'organizationId' | 'submissionId' | 'key' | 'refusedAt'>

/**
 * Removes the files of media that are marked as deleted, of all organizations, for the scheduled sweep. Those that the store does not
 * delete hold up no others: they are tried again every hour, and the log tells of each once.
 */
export async function removeFiles(system: ServiceContext): Promise<void> {
  const refused: { key: string; err: unknown }[] = []
  let refusals = 0
  for (;;) {
    const removable = await findRemovable(system)
    for (const media of removable) {
      const err = await remove(system, media)
      if (!err) continue
      if (!media.refusedAt) refused.push({ key: media.key, err })
      if (++refusals === MAX_REFUSALS) return report(system, refused)
    }
    if (removable.length < FOUND_AT_ONCE) return report(system, refused)
  }
}

function findRemovable({ db, deps }: ServiceContext): Promise<Removable[]> {
  const before = (ms: number) => new Date(deps.clock().getTime() - ms)
  return db.media.findMany({
    where: {
      state: 'deleted',
      removedAt: null,
      deletedAt: { lte: before(STRAY_MS) },
      OR: [{ refusedAt: null }, { refusedAt: { lte: before(REFUSED_MS) } }],
    },
    select: { id: true, organizationId: true, submissionId: true, key: true, refusedAt: true },
    orderBy: { deletedAt: 'asc' },
    take: FOUND_AT_ONCE,
  })
}

/** @returns what the store said, if it has not deleted them. */
async function remove(system: ServiceContext, { id, organizationId, submissionId, key }: Removable): Promise<unknown> {
  const { db, deps } = system
  try {
    await deps.media.deletePrefix(folderOf(key))
  } catch (err) {
    await db.media.updateMany({ where: { organizationId, id }, data: { refusedAt: deps.clock() } })
    return err
  }
  await inTransaction(system, async (inside) => {
    await inside.db.mediaPart.deleteMany({ where: { organizationId, mediaId: id } })
    const [removed] = await inside.db.media.updateManyAndReturn({
      where: { organizationId, id, removedAt: null },
      data: { removedAt: deps.clock() },
      select: { bytes: true },
    })
    if (!removed) return
    const where = { organizationId, id: submissionId }
    await inside.db.submission.updateMany({ where, data: { mediaBytes: { decrement: removed.bytes } } })
  })
}

function report({ deps }: ServiceContext, refused: { key: string; err: unknown }[]): void {
  const [first] = refused
  if (!first) return
  deps.log.error(
    { err: first.err, keys: refused.map(({ key }) => key) },
    'the media store does not delete the files of deleted media: see that the service may delete there; it is tried again every hour',
  )
}

import { ownUpdate } from '../../db/own.ts'
import { run } from '../../db/statements.ts'
import { recordAudit } from '../audit/record-audit.ts'
import type { Context } from '../context.ts'
import { inTransaction } from '../transaction.ts'
import { partsFolderOf } from '../values/media-keys.ts'
import { type Archive, findArchive, toArchive } from './archives.ts'

/** Where a part of an archive lies. @param key the archive's. @param number from 0. */
export const partOfArchive = (key: string, number: number): string => `${partsFolderOf(key)}${number}`

/**
 * An archive, for who asked for it to fetch.
 *
 * @returns its bytes; whoever hands over the last of them calls {@link noteFetched}. Until then it can be fetched again. Null: it is not made
 *   yet, was fetched, or is somebody else's to fetch.
 * @throws DomainError not_permitted, archive_not_found.
 */
export async function openArchive(
  ctx: Context,
  id: string,
): Promise<{ archive: Archive; content: AsyncGenerator<Uint8Array> | null }> {
  const row = await findArchive(ctx, id)
  const archive = toArchive(ctx, row)
  const isFetchable = row.key !== null && archive.finishedAt !== null && archive.isMine
  return { archive, content: isFetchable ? readParts(ctx, row.key!, archive.bytes) : null }
}

async function* readParts({ deps }: Context, key: string, bytes: number): AsyncGenerator<Uint8Array> {
  for (let [number, left] = [0, bytes]; left > 0; number++) {
    const part = await deps.media.get(partOfArchive(key, number))
    if (!part) throw new Error('A part of an archive is not in the media store')
    for await (const piece of part) {
      left -= piece.length
      yield piece
    }
  }
}

/** Its last byte was handed over: the file goes now. Once more changes nothing. */
export async function noteFetched(ctx: Context, id: string): Promise<void> {
  await inTransaction(ctx, async (inside) => {
    const { db, deps, organization } = inside
    const where = { organizationId_id: { organizationId: organization.id, id } }
    const found = await db.archive.findUnique({ where, select: { key: true } })
    if (!found?.key) return
    const fetchedAt = deps.clock()
    const taking = ownUpdate(inside, 'archives').where('id', '=', id).where('key', '=', found.key)
    if ((await run(db, taking.set({ key: null, fetchedAt }))) === 0) return
    await db.mediaLeftover.create({ data: { id: deps.newId(), key: found.key, deletedAt: fetchedAt } })
    await recordAudit(inside, { action: 'fetched_archive', target: { kind: 'archive', id } })
  })
}

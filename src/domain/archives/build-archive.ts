import { affectedRows } from '../../db/statements.ts'
import { getActingMember } from '../authorization/acting-member.ts'
import { may } from '../authorization/permissions.ts'
import { type Context, enterOrganization, type ServiceContext } from '../context.ts'
import { newMediaKey } from '../files/media-keys.ts'
import { decrypt } from '../secrets/encryption.ts'
import { daysAfter } from '../time/days.ts'
import { inTransaction } from '../transaction.ts'
import { ARCHIVE_DAYS, purposeOf } from './archives.ts'
import { archivePartKey } from './download-archive.ts'

/** Bytes per part. Limits the memory that building takes, because archives can have any length. */
export const PART_BYTES = 8 * 1024 * 1024
/** Stops a build, because another process makes the archive, or it is not wanted any more. */
const GONE = new Error('The archive is made by another process, or wanted no more')

/**
 * Builds an archive, from the beginning if an earlier attempt was interrupted. Does nothing if it is built already. No part is stored
 * without the archive's row, so that nothing remains if the candidate is erased meanwhile.
 *
 * @throws errors of the store or the database. The job is retried.
 */
export async function buildArchive(
  service: ServiceContext,
  { organizationId, archiveId: id }: { organizationId: string; archiveId: string },
): Promise<void> {
  const where = { organizationId_id: { organizationId, id } }
  const found = await service.db.archive.findUnique({ where, include: { organization: true } })
  if (!found || found.finishedAt) return
  const ctx: Context = enterOrganization({ ...service, actor: { kind: 'system' } }, found.organization)
  const key = newMediaKey(ctx.organization)
  if (!(await begin(ctx, { id, key }))) return
  const parts = putParts(ctx, { id, key })
  try {
    await ctx.deps.writeArchive(ctx, await findSubject(ctx, found), parts.write)
    const bytes = await parts.end()
    const finishedAt = ctx.deps.clock()
    const finishing = ctx.db.updateTable('archives').where('id', '=', id).where('key', '=', key).where('finishedAt', 'is', null)
    await finishing.set({ bytes, finishedAt, expiresAt: daysAfter(finishedAt, ARCHIVE_DAYS) }).execute()
  } catch (error) {
    if (error !== GONE) throw error
  }
}

/** Claims the archive with a new key, and deletes files under an earlier key. @returns false if the archive is built or gone. */
const begin = (ctx: Context, { id, key }: ArchiveInProgress): Promise<boolean> =>
  inTransaction(ctx, async (inside) => {
    const { db, deps } = inside
    const archiveRow = inside.db.selectFrom('archives').where('id', '=', id).where('finishedAt', 'is', null)
    const before = await archiveRow.select('key').forUpdate().executeTakeFirst()
    if (!before) return false
    if (before.key) await db.deletedMediaFile.create({ data: { id: deps.newId(), key: before.key, deletedAt: deps.clock() } })
    return (await affectedRows(inside.db.updateTable('archives').where('id', '=', id).set({ key }))) > 0
  })

type ArchiveInProgress = { id: string; key: string }
type Found = { id: string; subject: string; memberId: string | null; actorId: string | null; encryptedAddress: Uint8Array | null }

/** @throws Error if none of the secret keys decrypts the address. */
async function findSubject(ctx: Context, { id, subject, memberId, actorId, encryptedAddress }: Found) {
  if (subject === 'organization') {
    const actor = actorId === null ? null : await getActingMember(ctx, actorId)
    return { hasTranscripts: actor !== null && may({ actor }, 'read_transcripts') }
  }
  if (memberId !== null) return { memberId, isOwn: actorId === memberId }
  const address = encryptedAddress && decrypt(ctx.deps.secretKeys, purposeOf(id), encryptedAddress)
  if (address === null) throw new Error('The address of an archive is encrypted under a secret key that is not known')
  return { address }
}

function putParts(ctx: Context, { id, key }: ArchiveInProgress) {
  const part = Buffer.allocUnsafe(PART_BYTES)
  let [filled, number] = [0, 0]
  const making = ctx.db
    .selectFrom('archives')
    .where('id', '=', id)
    .where('key', '=', key)
    .where('finishedAt', 'is', null)
    .select('id')
  async function storePart() {
    if (!(await making.executeTakeFirst())) throw GONE
    await ctx.deps.media.put(archivePartKey(key, number++), part.subarray(0, filled))
  }
  return {
    async write(bytes: Uint8Array): Promise<void> {
      for (let from = 0; from < bytes.length; ) {
        const chunk = bytes.subarray(from, from + PART_BYTES - filled)
        part.set(chunk, filled)
        filled += chunk.length
        from += chunk.length
        if (filled < PART_BYTES) return
        await storePart()
        filled = 0
      }
    },
    /** @returns how many bytes there are in all. */
    async end(): Promise<number> {
      const bytes = number * PART_BYTES + filled
      if (filled > 0) await storePart()
      return bytes
    },
  }
}

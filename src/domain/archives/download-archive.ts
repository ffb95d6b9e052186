import { affectedRows } from '../../db/statements.ts'
import { tenantDb } from '../../db/tenant-db.ts'
import { recordAudit } from '../audit/record-audit.ts'
import type { Context, ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import { partsFolderOf } from '../files/media-keys.ts'
import { inTransaction } from '../transaction.ts'
import { type Archive, type ArchiveSubject, DOWNLOAD_RETRY_MS, findArchive, toArchive } from './archives.ts'

// An archive is downloaded once. A download holds a lease until its last byte, so parallel downloads are refused. The session that started a
// download can repeat it within an hour if it was interrupted.

/** Milliseconds until a lease ends that its process does not renew. */
const LEASE_MS = 60_000
const RENEWED_EVERY_MS = 20_000

/** Key of a part of an archive in the media store. @param key the archive's. @param number from 0. */
export const archivePartKey = (key: string, number: number): string => `${partsFolderOf(key)}${number}`

/** @property end releases the lease. `isComplete`: the last byte was sent, so the file is deleted. */
export type Download = { content: AsyncGenerator<Uint8Array>; end: (isComplete: boolean) => Promise<void> }

/**
 * Starts the download of an archive by its requester.
 *
 * @param sessionId the portal session. @returns download: null while the archive is being built, after it was downloaded, and for anybody
 *   else.
 * @throws DomainError not_permitted, archive_not_found; archive_downloading if another download is running, or an interrupted one can't be
 *   repeated by this session.
 */
export async function startDownload(
  ctx: Context,
  id: string,
  sessionId: string,
): Promise<{ archive: Archive; download: Download | null }> {
  const row = await findArchive(ctx, id)
  const archive = toArchive(ctx, row)
  if (row.key === null || archive.finishedAt === null || !archive.isMine) return { archive, download: null }
  const lease = { organizationId: ctx.organization.id, id, downloadId: ctx.deps.newId() }
  if (!(await claim(ctx, lease, sessionId))) throw new DomainError('archive_downloading')
  let isLost = false
  const renewal = setInterval(() => {
    renew(ctx, lease).then(
      (isHeld) => (isLost = !isHeld),
      (err: unknown) => ctx.deps.log.warn({ err, archiveId: id }, 'the lease of a download could not be renewed'),
    )
  }, RENEWED_EVERY_MS)
  return {
    archive,
    download: {
      content: readParts(ctx, row.key, archive.bytes, () => isLost),
      async end(isComplete) {
        clearInterval(renewal)
        if (isComplete) await complete(ctx, lease, archive.subject)
        else await updateLease(ctx, lease, { downloadId: null, downloadLeasedUntil: null })
      },
    },
  }
}

type Lease = { organizationId: string; id: string; downloadId: string | null }

/** @returns true if the session has the lease now. */
async function claim(ctx: Context, { id, downloadId }: Lease, sessionId: string): Promise<boolean> {
  const now = ctx.deps.clock()
  const claiming = ctx.db
    .updateTable('archives')
    .where('id', '=', id)
    .where('key', 'is not', null)
    .where(({ eb, or }) => or([eb('downloadLeasedUntil', 'is', null), eb('downloadLeasedUntil', '<=', now)]))
    .where(({ eb, or, and }) => {
      const isRetry = [
        eb('downloadSessionId', '=', sessionId),
        eb('downloadStartedAt', '>', new Date(now.getTime() - DOWNLOAD_RETRY_MS)),
      ]
      return or([eb('downloadStartedAt', 'is', null), and(isRetry)])
    })
    .set(({ fn, ref, val }) => ({
      downloadId,
      downloadLeasedUntil: new Date(now.getTime() + LEASE_MS),
      downloadSessionId: sessionId,
      downloadStartedAt: fn.coalesce(ref('downloadStartedAt'), val(now)),
    }))
  return (await affectedRows(claiming)) > 0
}

const renew = (ctx: Context, lease: Lease): Promise<boolean> =>
  updateLease(ctx, lease, { downloadLeasedUntil: new Date(ctx.deps.clock().getTime() + LEASE_MS) })

/** @returns false if the lease was lost. */
async function updateLease(
  ctx: Context,
  { id, downloadId }: Lease,
  change: { downloadId?: null; downloadLeasedUntil: Date | null },
): Promise<boolean> {
  const leaseRow = ctx.db.updateTable('archives').where('id', '=', id).where('downloadId', '=', downloadId)
  return (await affectedRows(leaseRow.set(change))) > 0
}

async function* readParts({ deps }: Context, key: string, bytes: number, isLost: () => boolean): AsyncGenerator<Uint8Array> {
  for (let [number, remaining] = [0, bytes]; remaining > 0; number++) {
    const part = await deps.media.get(archivePartKey(key, number))
    if (!part) throw new Error('A part of an archive is not in the media store')
    for await (const piece of part) {
      if (isLost()) throw new Error('The lease of the download is lost')
      remaining -= piece.length
      yield piece
    }
  }
}

async function complete(ctx: Context, lease: Lease, subject: ArchiveSubject): Promise<void> {
  const action = subject === 'organization' ? 'fetched_organization_export' : 'fetched_archive'
  await inTransaction(ctx, async (inside) => {
    if (await removeFile(inside, lease, { fetchedAt: inside.deps.clock() }))
      await recordAudit(inside, { action, target: { kind: 'archive', id: lease.id } })
  })
}

/** Deletes the file, unless another download has the lease. @returns false if it was gone, or if another download has the lease. */
export const removeFile = (
  service: ServiceContext,
  { organizationId, id, downloadId }: Lease,
  change: { fetchedAt?: Date },
): Promise<boolean> =>
  inTransaction(service, async ({ db, deps }) => {
    const tenant = tenantDb(db, { organization: { id: organizationId }, mode: 'all' })
    const leaseRow = tenant.selectFrom('archives').where('id', '=', id).where('downloadId', 'is not distinct from', downloadId)
    const found = await leaseRow.select('key').forUpdate().executeTakeFirst()
    if (!found?.key) return false
    const cleared = { key: null, downloadId: null, downloadLeasedUntil: null, ...change }
    await tenant.updateTable('archives').where('id', '=', id).set(cleared).execute()
    await db.deletedMediaFile.create({ data: { id: deps.newId(), key: found.key, deletedAt: deps.clock() } })
    return true
  })

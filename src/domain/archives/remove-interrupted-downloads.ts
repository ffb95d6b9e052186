import type { ServiceContext } from '../context.ts'
import { DOWNLOAD_RETRY_MS } from './archives.ts'
import { removeFile } from './download-archive.ts'

/** Removes the files of archives whose download was interrupted and can no longer be repeated, of all organizations. */
export async function removeInterruptedDownloads(service: ServiceContext): Promise<void> {
  const { db, deps } = service
  const now = deps.clock()
  const brokenOff = await db.archive.findMany({
    where: {
      key: { not: null },
      downloadStartedAt: { lte: new Date(now.getTime() - DOWNLOAD_RETRY_MS) },
      OR: [{ downloadLeasedUntil: null }, { downloadLeasedUntil: { lte: now } }],
    },
    select: { organizationId: true, id: true, downloadId: true },
  })
  for (const archive of brokenOff) await removeFile(service, archive, {})
}

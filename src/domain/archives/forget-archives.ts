import type { ServiceContext } from '../context.ts'
import { DOWNLOAD_RETRY_MS } from './archives.ts'
import { removeFile } from './download-archive.ts'

/** Deletes expired archives of all organizations with their files, and the files whose download broke off and can no longer be repeated. */
export async function forgetOldArchives(service: ServiceContext): Promise<void> {
  const { db, deps } = service
  const now = deps.clock()
  await db.archive.deleteMany({ where: { expiresAt: { lte: now } } })
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

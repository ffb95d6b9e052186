import { lstat, open, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { syncFolder } from '../db/checked-copy.ts'
import type { Context } from '../domain/context.ts'
import { createZip } from '../files/zip.ts'
import { beginExport, type ExportOptions, explainFullDisk } from './begin-export.ts'
import { exportToZip } from './export-to-zip.ts'
import type { Manifest } from './manifest.ts'
import { TransferError } from './transfer-error.ts'

/**
 * Writes everything of an organization to a new ZIP. It has its name once it is complete; an interrupted export starts again.
 *
 * @throws TransferError if the file exists or the disk is full; errors of the database and the store.
 */
export async function exportZipFile(ctx: Context, file: string, options: ExportOptions): Promise<Manifest> {
  if (await exists(file)) throw new TransferError(`${file} exists already.`)
  const draft = `${file}.draft`
  await rm(draft, { force: true })
  return explainFullDisk(file, async () => {
    try {
      const manifest = await writeDraft(ctx, draft, options)
      await rename(draft, file)
      await syncFolder(path.dirname(file))
      return manifest
    } catch (error) {
      await rm(draft, { force: true })
      throw error
    }
  })
}

async function writeDraft(ctx: Context, draft: string, options: ExportOptions): Promise<Manifest> {
  await using handle = await open(draft, 'wx', 0o600)
  await beginExport(ctx, options)
  const zip = createZip((bytes) => handle.writeFile(bytes), ctx.deps.clock())
  const manifest = await exportToZip(ctx, zip, options)
  await zip.end()
  await handle.sync()
  return manifest
}

const exists = (file: string): Promise<boolean> =>
  lstat(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false
      throw error
    },
  )

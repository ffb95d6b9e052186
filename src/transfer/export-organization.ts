import { mkdir, readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import type { Context } from '../domain/context.ts'
import { beginExport, type ExportOptions, explainFullDisk, exportTables } from './begin-export.ts'
import { exportMedia } from './export-media.ts'
import { writeLines } from './json-lines.ts'
import {
  hasManifest,
  type Manifest,
  MEDIA_FOLDER,
  type RowsManifest,
  readRowsManifest,
  TABLES_FOLDER,
  tableFile,
  writeManifest,
  writeRowsManifest,
} from './manifest.ts'
import { TransferError } from './transfer-error.ts'

/**
 * Writes everything of an organization to a folder. If the folder has all rows of an interrupted export, only the missing media are copied.
 *
 * @throws TransferError if the folder has anything else, or the disk is full; errors of the database and the store.
 */
export const exportOrganization = (ctx: Context, folder: string, options: ExportOptions): Promise<Manifest> =>
  explainFullDisk(folder, () => exportToFolder(ctx, folder, options))

async function exportToFolder(ctx: Context, folder: string, options: ExportOptions): Promise<Manifest> {
  const rows = (await findInterrupted(ctx, folder, options)) ?? (await startExport(ctx, folder, options))
  await mkdir(path.join(folder, MEDIA_FOLDER), { recursive: true, mode: 0o700 })
  const manifest = { ...rows, media: await exportMedia(ctx, folder, rows, options.onProgress ?? (() => {})) }
  await writeManifest(folder, manifest)
  return manifest
}

async function startExport(ctx: Context, folder: string, options: ExportOptions): Promise<RowsManifest> {
  // Rows of an interrupted export are of another moment.
  await rm(path.join(folder, TABLES_FOLDER), { recursive: true, force: true })
  await mkdir(path.join(folder, TABLES_FOLDER), { recursive: true, mode: 0o700 })
  await beginExport(ctx, options)
  const rows = await exportTables(ctx, options.movedTo, (table, batches) =>
    writeLines(path.join(folder, tableFile(table)), batches),
  )
  await writeRowsManifest(folder, rows)
  return rows
}

/** @returns null if the folder is new, empty, or has only a part of the rows. */
async function findInterrupted(ctx: Context, folder: string, { movedTo }: ExportOptions): Promise<RowsManifest | null> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const rows = await readRowsManifest(folder)
  if (!rows) {
    const otherFiles = (await readdir(folder)).filter((name) => name !== TABLES_FOLDER)
    if (otherFiles.length > 0) throw new TransferError(`${folder} is not empty: it has ${otherFiles[0]}.`)
    return null
  }
  if (await hasManifest(folder)) throw new TransferError(`${folder} already has a complete export.`)
  if (rows.organization.id !== ctx.organization.id)
    throw new TransferError(`${folder} has an unfinished export of ${rows.organization.name}.`)
  if (rows.movedTo !== movedTo) {
    const begun = rows.movedTo === null ? 'without --move' : `with --move ${rows.movedTo}`
    throw new TransferError(`The export in ${folder} was started ${begun}: repeat it like that, or use a new folder.`)
  }
  if (movedTo !== null) await requireSuspendedSince(ctx, rows)
  return rows
}

/** @throws TransferError if the organization was resumed after its rows were exported, so that they may have changed. */
async function requireSuspendedSince({ db, organization }: Context, { exportedAt }: RowsManifest): Promise<void> {
  const found = await db.organizationSuspension.findUnique({ where: { organizationId: organization.id } })
  if (found?.reason !== 'moved' || found.requestedAt > new Date(exportedAt))
    throw new TransferError(`${organization.name} may have changed since its rows were exported: export it to a new folder.`)
}

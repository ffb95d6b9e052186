import { chmod, mkdir, readdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { type Content, copyChecked, eachOf, measureContent, syncFolder } from '../db/checked-copy.ts'
import { chooseHome, databaseFolder, findMajorVersion, restoringFolder } from '../db/embedded-files.ts'
import { recoverCopy } from '../db/physical-copy.ts'
import { createFolder } from '../files/create-folder.ts'
import { explainFullDisk, mediaFolder, requireEmbedded } from './backup.ts'
import { BACKUP_PARTS, type BackupManifest, readManifest } from './backup-manifest.ts'
import type { Config } from './config.ts'
import { secretFile } from './secret.ts'

export type RestoreResult = {
  manifest: BackupManifest
  /** Folder of the database and its secret. */
  home: string
}

/**
 * Restores a backup into a DATA_DIR without database, media, or secret. Everything is checked first, then written beside its final place. The
 * database is moved into place last, because startup looks for it.
 *
 * @throws ConfigError if the database is not the embedded one.
 * @throws Error naming a missing or changed file, or if the backup has another major version of PostgreSQL.
 */
export async function restoreBackup(config: Config, folder: string): Promise<RestoreResult> {
  requireEmbedded(config)
  const manifest = await readManifest(folder)
  await checkVersion(manifest)
  await eachOf(manifest.files, async (file) => {
    requireSame(path.join(folder, file.path), file, await measureContent(path.join(folder, file.path)))
  })
  const home = await chooseHome(config.dataDir)
  const media = mediaFolder(config.dataDir)
  for (const place of [databaseFolder(home), secretFile(home), secretFile(config.dataDir), media]) await requireEmpty(place)
  await restoreParts(folder, manifest, home, media).catch((error) => {
    throw explainFullDisk(error, home)
  })
  return { manifest, home }
}

async function restoreParts(folder: string, manifest: BackupManifest, home: string, media: string): Promise<void> {
  // The media may be on another disk than the database.
  const [draft, mediaDraft] = [restoringFolder(home), `${media}.restoring`]
  await using drafts = new AsyncDisposableStack()
  await using movedFolders = new AsyncDisposableStack()
  for (const draftFolder of [draft, mediaDraft]) {
    await createDraft(draftFolder)
    drafts.defer(() => rm(draftFolder, { recursive: true, force: true }))
  }
  const placeOf = (below: string): string => {
    const [part, ...subpath] = below.split('/')
    return part === BACKUP_PARTS.media ? path.join(mediaDraft, ...subpath) : path.join(draft, below)
  }
  for (const below of manifest.folders) await createFolder(placeOf(below), 0o700)
  await eachOf(manifest.files, async (file) => {
    requireSame(path.join(folder, file.path), file, await copyChecked(path.join(folder, file.path), placeOf(file.path)))
  })
  for (const below of manifest.folders) await syncFolder(placeOf(below))
  await recoverCopy(draft)

  const moves: [string, string][] = [[databaseFolder(draft), databaseFolder(home)]]
  if (!manifest.without.includes('secret')) moves.unshift([secretFile(draft), secretFile(home)])
  if (manifest.folders.includes(BACKUP_PARTS.media)) moves.unshift([mediaDraft, media])
  for (const [from, to] of moves) {
    await rename(from, to)
    movedFolders.defer(() => rm(to, { recursive: true, force: true }))
  }
  for (const folder of [home, path.dirname(media)]) await syncFolder(folder)
  movedFolders.move() // success: keep the moved folders
}

async function checkVersion({ postgres, release }: BackupManifest): Promise<void> {
  const ownVersion = await findMajorVersion()
  if (postgres === ownVersion) return
  throw new Error(
    `The backup is of PostgreSQL ${postgres}, and this release comes with ${ownVersion}: restore it with the release that made it, ${release}.`,
  )
}

function requireSame(file: string, expected: Content, copied: Content | undefined): void {
  if (!copied) throw new Error(`${file} is missing: the backup can not be restored.`)
  const isSame = copied.size === expected.size && copied.sha256 === expected.sha256
  if (!isSame) throw new Error(`${file} is not as the backup wrote it: the backup can not be restored.`)
}

async function requireEmpty(place: string): Promise<void> {
  const entries = await readdir(place).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    if (error.code === 'ENOTDIR') return [place]
    throw error
  })
  if (entries.length > 0) throw new Error(`There is ${place} already: a backup is restored into a DATA_DIR that is empty.`)
}

async function createDraft(draft: string): Promise<void> {
  // PostgreSQL's user has to be able to enter the folder.
  await mkdir(draft, { mode: 0o711 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
    throw new Error(`There is ${draft}: another restore is at work, or was interrupted. If none is at work, remove it.`)
  })
  await chmod(draft, 0o711) // regardless of the umask
}

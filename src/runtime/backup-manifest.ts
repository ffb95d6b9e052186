import { createHash } from 'node:crypto'
import { open, readFile, rename } from 'node:fs/promises'
import path from 'node:path'
import { type Copied, syncFolder } from '../db/checked-copy.ts'

/** Contents of a backup. Written last: a folder without a manifest is not a complete backup. */
export type BackupManifest = Copied & {
  format: 1
  createdAt: string
  release: string
  /** Major version of PostgreSQL. */
  postgres: string
  /** Parts that the installation has and the backup doesn't. */
  without: ExcludedPart[]
}

export type ExcludedPart = 'media' | 'secret'

/** Paths below the backup's folder. */
export const BACKUP_PARTS = { database: 'postgres', media: 'media', secret: 'secret-key' }
const MANIFEST = 'manifest.json'

export async function writeManifest(folder: string, manifest: BackupManifest): Promise<void> {
  const draft = path.join(folder, `${MANIFEST}.draft`)
  await using handle = await open(draft, 'wx', 0o600)
  await handle.writeFile(JSON.stringify({ manifest, sha256: digest(manifest) }))
  await handle.sync()
  await rename(draft, path.join(folder, MANIFEST))
  await syncFolder(folder)
}

/** @throws Error if the manifest is missing or damaged. */
export async function readManifest(folder: string): Promise<BackupManifest> {
  const file = path.join(folder, MANIFEST)
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    throw new Error(`${folder} is no complete backup: it has no ${MANIFEST}.`)
  })
  const { manifest, sha256 } = parse(text) ?? {}
  if (!manifest || sha256 !== digest(manifest)) throw new Error(`${file} is not as the backup wrote it.`)
  if (manifest.format !== 1)
    throw new Error(`${file} was written by a release that this one does not know (${manifest.release}).`)
  return manifest
}

function parse(text: string): { manifest?: BackupManifest; sha256?: string } | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const digest = (manifest: BackupManifest) => createHash('sha256').update(JSON.stringify(manifest)).digest('hex')

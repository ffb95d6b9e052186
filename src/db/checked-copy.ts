import { createHash } from 'node:crypto'
import { type FileHandle, open, readdir } from 'node:fs/promises'
import path from 'node:path'
import { createFolder } from '../files/create-folder.ts'

export type Content = { size: number; sha256: string }
/** Copied files, by path below the folder, with slashes; the folder itself is ''. */
export type Copied = { folders: string[]; files: (Content & { path: string })[] }

const CHUNK_BYTES = 1_048_576

/** Copies a file and syncs it to disk. @returns its content's description; undefined if the file is gone. */
export async function copyChecked(from: string, to: string): Promise<Content | undefined> {
  await using source = await unlessGone(open(from))
  if (!source) return undefined
  await using target = await open(to, 'wx', 0o600)
  const content = await readThrough(source, (chunk) => target.writeFile(chunk))
  await target.sync()
  return content
}

/** @returns undefined if the file does not exist. */
export async function measureContent(file: string): Promise<Content | undefined> {
  await using source = await unlessGone(open(file))
  return source && (await readThrough(source, async () => {}))
}

/**
 * Copies a folder whose files may appear, disappear, and change meanwhile. When it returns, the copy is synced to disk.
 *
 * @param isLeftOut gets the path relative to the folder.
 * @throws Error on a symbolic link, because its target would be missing in the copy.
 */
export async function copyFolder(from: string, to: string, isLeftOut = (_path: string) => false): Promise<Copied> {
  const copied: Copied = { folders: [], files: [] }
  const copyFile = async (relativePath: string): Promise<void> => {
    const content = await copyChecked(path.join(from, relativePath), path.join(to, relativePath))
    if (content) copied.files.push({ path: relativePath, ...content })
  }
  const copyBelow = async (folder: string): Promise<void> => {
    const entries = await unlessGone(readdir(path.join(from, folder), { withFileTypes: true }))
    if (!entries) return
    await createFolder(path.join(to, folder), 0o700)
    copied.folders.push(folder)
    const found = entries
      .map((entry) => ({ entry, relativePath: path.posix.join(folder, entry.name) }))
      .filter(({ relativePath }) => !isLeftOut(relativePath))
    const link = found.find(({ entry }) => entry.isSymbolicLink())
    if (link) throw new Error(`${path.join(from, link.relativePath)} is a link, which a backup does not follow.`)
    await eachOf(
      found.filter(({ entry }) => entry.isFile()),
      ({ relativePath }) => copyFile(relativePath),
    )
    for (const { relativePath } of found.filter(({ entry }) => entry.isDirectory())) await copyBelow(relativePath)
    await syncFolder(path.join(to, folder))
  }
  await copyBelow('')
  return copied
}

/** Files that are copied at the same time. */
const AT_ONCE = 8

/** Does something with each of the items, a few at a time. It ends with the first error, and when nothing is under way any more. */
export async function eachOf<T>(items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  const iterator = items[Symbol.iterator]()
  const failures: unknown[] = []
  const workOff = async () => {
    for (let next = iterator.next(); !next.done && failures.length === 0; next = iterator.next())
      await work(next.value).catch((error) => failures.push(error))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, workOff))
  if (failures.length > 0) throw failures[0]
}

/** When it returns, the disk knows the folder's entries. */
export async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder)
  await handle.sync()
}

async function readThrough(source: FileHandle, take: (chunk: Uint8Array) => Promise<void>): Promise<Content> {
  const hash = createHash('sha256')
  // Most files are small: a chunk of memory for each would cost more than to read them.
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, (await source.stat()).size + 1))
  let size = 0
  for (;;) {
    const { bytesRead } = await source.read(buffer)
    if (bytesRead === 0) return { size, sha256: hash.digest('hex') }
    const chunk = buffer.subarray(0, bytesRead)
    hash.update(chunk)
    await take(chunk)
    size += bytesRead
  }
}

const unlessGone = <T>(found: Promise<T>): Promise<T | undefined> =>
  found.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })

import { randomUUID } from 'node:crypto'
import { copyFile, open, opendir, rename, rm, stat, statfs } from 'node:fs/promises'
import path from 'node:path'
import type { MediaStore, StoredFile } from '../domain/ports/media-store.ts'
import { createFolder } from '../files/create-folder.ts'
import { checkKey, checkPrefix } from './key.ts'

/** Media store in a folder, created on first use. */
export function openFolder(root: string): MediaStore {
  const fileOf = (key: string) => path.join(root, checkKey(key))
  return {
    async put(key, content) {
      const file = fileOf(key)
      const folder = path.dirname(file)
      await makeFolder(folder)
      // In the same folder, so that leftovers of a crash are deleted with it.
      const temporary = `${file}.${randomUUID()}`
      try {
        await write(temporary, content)
        await rename(temporary, file)
      } catch (error) {
        await rm(temporary, { force: true }) // frees the space of a partial file
        throw error
      }
      await sync(folder)
    },
    async get(key, range = { start: 0, end: Infinity }) {
      const handle = await unlessMissing(open(fileOf(key)))
      return handle?.createReadStream(range) ?? null
    },
    size: async (key) => (await unlessMissing(stat(fileOf(key))))?.size ?? null,
    list: () => listFolder(root),
    async delete(key) {
      await rm(fileOf(key), { force: true })
    },
    async deletePrefix(prefix) {
      await rm(path.join(root, checkPrefix(prefix)), { recursive: true, force: true })
    },
    async free() {
      await createFolder(root)
      const { bavail, bsize } = await statfs(root)
      return bavail * bsize
    },
  }
}

const LIST_BATCH = 1_000

async function* listFolder(root: string): AsyncGenerator<{ key: string; bytes: number }[]> {
  const folder = await unlessMissing(opendir(root, { recursive: true }))
  if (!folder) return
  let files: { key: string; bytes: number }[] = []
  for await (const entry of folder) {
    if (!entry.isFile()) continue
    const file = path.join(entry.parentPath, entry.name)
    const found = await unlessMissing(stat(file)) // it may be deleted meanwhile
    if (found) files.push({ key: path.relative(root, file).split(path.sep).join('/'), bytes: found.size })
    if (files.length < LIST_BATCH) continue
    yield files
    files = []
  }
  yield files
}

/** Writes the file durably (fsync). */
async function write(file: string, content: Uint8Array | StoredFile): Promise<void> {
  if (!(content instanceof Uint8Array)) await copyFile(content.path, file)
  await using handle = await open(file, content instanceof Uint8Array ? 'wx' : 'r+')
  if (content instanceof Uint8Array) await handle.writeFile(content)
  await handle.sync()
}

/** Creates the folder and missing parents durably (fsync). */
async function makeFolder(folder: string): Promise<void> {
  const first = await createFolder(folder)
  if (first === undefined) return
  for (let created = folder; created.length >= first.length; created = path.dirname(created)) await sync(path.dirname(created))
}

async function sync(folder: string): Promise<void> {
  await using handle = await open(folder)
  await handle.sync()
}

const unlessMissing = <T>(found: Promise<T>): Promise<T | null> =>
  found.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })

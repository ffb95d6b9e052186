import path from 'node:path'
import { findPlainFile } from './plain-files.ts'
import { TransferError } from './transfer-error.ts'

// An export to read, which somebody else may have made.

/** A file of an export. @property name its path, for messages. @property read reads the content, once. */
export type SourceFile = AsyncDisposable & { name: string; bytes: number; read: () => AsyncIterable<Buffer> }

/**
 * @property folder folder for the file with new ids.
 * @property find null if the file does not exist.
 * @property withPath runs work on a file of the disk, extracted if necessary.
 */
export type ExportSource = AsyncDisposable & {
  folder: string
  find: (name: string) => Promise<SourceFile | null>
  withPath: (name: string, work: (path: string, name: string) => Promise<void>) => Promise<void>
}

export const openFolder = (folder: string): ExportSource => ({
  folder,
  async find(name) {
    const file = path.join(folder, name)
    const handle = await findPlainFile(file)
    if (!handle) return null
    return {
      name: file,
      bytes: (await handle.stat()).size,
      read: () => handle.createReadStream({ autoClose: false, highWaterMark: 262_144 }) as AsyncIterable<Buffer>,
      [Symbol.asyncDispose]: () => handle.close(),
    }
  },
  withPath: (name, work) => work(path.join(folder, name), path.join(folder, name)),
  [Symbol.asyncDispose]: async () => {},
})

/** @throws TransferError if the file is missing. */
export async function openFile(source: ExportSource, name: string): Promise<SourceFile> {
  const file = await source.find(name)
  if (!file) throw new TransferError(`${name} is missing.`)
  return file
}

export async function readAll(file: SourceFile): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of file.read()) pieces.push(piece)
  return Buffer.concat(pieces)
}

import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pipeline } from 'node:stream'
import { createInflateRaw } from 'node:zlib'
import type { ExportSource, SourceFile } from './export-source.ts'
import { openPlainFile } from './plain-files.ts'
import { TransferError } from './transfer-error.ts'
import { readDirectory, readLocalHeader, ZIP_DEFLATED, type ZipEntry } from './zip-directory.ts'

const CHUNK_BYTES = 262_144

/**
 * Opens the ZIP of an export. Files are read by their place in the directory, and never for more bytes than it says.
 *
 * @throws TransferError for a file that is no ZIP, or one that no export is.
 */
export async function openZip(file: string): Promise<ExportSource> {
  const handle = await openPlainFile(file)
  try {
    const entries = await readDirectory(handle, file)
    const temporary = await mkdtemp(path.join(tmpdir(), 'import-'))
    const find = async (name: string): Promise<SourceFile | null> => {
      const entry = entries.get(name)
      if (!entry) return null
      const shown = `${file}: ${name}`
      const readContent = () => readEntry(handle, entry, shown)
      return { name: shown, bytes: entry.size, read: readContent, [Symbol.asyncDispose]: async () => {} }
    }
    return {
      folder: path.dirname(file),
      find,
      async withPath(name, work) {
        const entry = await find(name)
        if (!entry) throw new TransferError(`${file}: ${name} is missing.`)
        const copy = path.join(temporary, 'medium')
        await writeCopy(copy, entry)
        await work(copy, entry.name)
      },
      async [Symbol.asyncDispose]() {
        await handle.close()
        await rm(temporary, { recursive: true, force: true })
      },
    }
  } catch (error) {
    await handle.close()
    throw error
  }
}

async function writeCopy(copy: string, entry: SourceFile): Promise<void> {
  await using target = await open(copy, 'w', 0o600)
  for await (const piece of entry.read()) await target.writeFile(piece)
}

async function* readEntry(handle: FileHandle, entry: ZipEntry, shown: string): AsyncGenerator<Buffer> {
  const packed = readRange(handle, await readLocalHeader(handle, entry, shown), entry.packed)
  let bytes = 0
  for await (const piece of entry.method === ZIP_DEFLATED ? inflate(packed, shown) : packed) {
    bytes += piece.length
    if (bytes > entry.size) throw new TransferError(`${shown} has more bytes than the ZIP says.`)
    yield piece
  }
  if (bytes < entry.size) throw new TransferError(`${shown} has fewer bytes than the ZIP says.`)
}

async function* readRange(handle: FileHandle, start: number, length: number): AsyncGenerator<Buffer> {
  for (let readCount = 0; readCount < length; ) {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, length - readCount))
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, start + readCount)
    if (bytesRead === 0) return
    readCount += bytesRead
    yield chunk.subarray(0, bytesRead)
  }
}

async function* inflate(packed: AsyncIterable<Buffer>, shown: string): AsyncGenerator<Buffer> {
  try {
    yield* pipeline(packed, createInflateRaw({ chunkSize: CHUNK_BYTES }), () => {}) as AsyncIterable<Buffer>
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && String(cause.code).startsWith('Z_'))) throw cause
    throw new TransferError(`${shown} is damaged.`, { cause })
  }
}

import { type FileHandle, open, stat } from 'node:fs/promises'
import path from 'node:path'
import type { ErasureLog } from '../domain/ports/erasure-log.ts'
import { createFolder } from '../files/create-folder.ts'

/** The file of ERASURE_LOG, created with its first line. Several processes may write to it: each line is one append. */
export const openErasureLog = (file: string): ErasureLog => ({
  async append(line) {
    await createFolder(path.dirname(file))
    const handle = await open(file, 'a+', 0o600)
    try {
      await handle.appendFile(`${(await hasTornLine(handle)) ? '\n' : ''}${line}\n`)
      await handle.sync()
    } finally {
      await handle.close()
    }
  },
  async read() {
    const stats = await stat(file).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null
      throw error
    })
    return stats && readLinesBackwards(file)
  },
})

/** Bytes per read. */
const PIECE_BYTES = 64 * 1024
const NEWLINE = 10

/** Yields the lines, last first. Text after the last newline was torn by a crash or is being written, and is skipped. */
async function* readLinesBackwards(file: string): AsyncGenerator<string> {
  const handle = await open(file)
  try {
    let { size: from } = await handle.stat()
    /** Parts of the current line, last first; null before the first newline. */
    let pieces: Buffer[] | null = null
    while (from > 0) {
      const length = Math.min(PIECE_BYTES, from)
      from -= length
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, from)
      if (bytesRead < length) throw new Error('The file at ERASURE_LOG has become shorter while it was read')
      let end = length
      for (
        let newline = buffer.lastIndexOf(NEWLINE);
        newline !== -1;
        newline = newline === 0 ? -1 : buffer.lastIndexOf(NEWLINE, newline - 1)
      ) {
        if (pieces) yield Buffer.concat([buffer.subarray(newline + 1, end), ...pieces.reverse()]).toString()
        pieces = []
        end = newline
      }
      pieces?.push(buffer.subarray(0, end))
    }
    if (pieces) yield Buffer.concat(pieces.reverse()).toString()
  } finally {
    await handle.close()
  }
}

/** True if a crash left an incomplete last line: the next line must not continue it. */
async function hasTornLine(handle: FileHandle): Promise<boolean> {
  const { size } = await handle.stat()
  if (size === 0) return false
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1)
  return buffer.toString() !== '\n'
}

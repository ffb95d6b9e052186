import { mkdir, open, readFile } from 'node:fs/promises'
import path from 'node:path'
import type { ErasureLog } from '../domain/context.ts'

/** The file of the setting ERASURE_LOG; it is made with its first line. Several processes may write to it: each line is appended at once. */
export const openErasureLog = (file: string): ErasureLog => ({
  async append(line) {
    await mkdir(path.dirname(file), { recursive: true })
    const handle = await open(file, 'a+', 0o600)
    try {
      await handle.appendFile(`${(await endsTorn(handle)) ? '\n' : ''}${line}\n`)
      await handle.sync()
    } finally {
      await handle.close()
    }
  },
  async read() {
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null
      throw error
    })
    // What stands behind the last end of a line was torn by a crash, or is just being written.
    return text?.split('\n').slice(0, -1) ?? null
  },
})

/** Whether a crash has left a line without its end: the next does not go on in it. */
async function endsTorn(handle: Awaited<ReturnType<typeof open>>): Promise<boolean> {
  const { size } = await handle.stat()
  if (size === 0) return false
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1)
  return buffer.toString() !== '\n'
}

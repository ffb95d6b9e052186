import { open } from 'node:fs/promises'
import { StreamTarget, type StreamTargetChunk } from 'mediabunny'

/** Two chunks are in memory at a time. */
const CHUNK_BYTES = 2 ** 20

/** @property failing runs the writer and throws the first write error, if any. */
export type CheckedTarget = { target: StreamTarget; runChecked: (run: () => Promise<void>) => Promise<void> } & AsyncDisposable

const shortWriteError = (): Error =>
  Object.assign(new Error('The disk has not taken all that was written'), { syscall: 'write', code: 'EIO' })

/**
 * Opens a file and verifies that every byte was written: mediabunny's own target ignores short writes, as on a full disk.
 *
 * @param maxBytes a larger file fails.
 */
export async function openCheckedTarget(path: string, maxBytes: number): Promise<CheckedTarget> {
  const file = await open(path, 'w')
  let size = 0
  let failure: unknown
  const write = async ({ data, position }: StreamTargetChunk) => {
    size = Math.max(size, position + data.length)
    if (size > maxBytes) throw new Error('The recording becomes larger than what it is made of')
    for (let writtenBytes = 0; writtenBytes < data.length; ) {
      const { bytesWritten } = await file.write(data, writtenBytes, data.length - writtenBytes, position + writtenBytes)
      if (bytesWritten === 0) throw shortWriteError()
      writtenBytes += bytesWritten
    }
  }
  const recordFailure = (chunk: StreamTargetChunk) =>
    write(chunk).catch((error) => {
      failure ??= error
      throw error
    })
  const stream = new WritableStream<StreamTargetChunk>({ write: recordFailure })
  return {
    target: new StreamTarget(stream, { chunked: true, chunkSize: CHUNK_BYTES }),
    async runChecked(run) {
      await run().catch((error) => {
        throw failure ?? error // the library wraps the write error
      })
      if (failure) throw failure
      const { size: writtenSize } = await file.stat()
      if (writtenSize !== size) throw shortWriteError()
    },
    [Symbol.asyncDispose]: () => file.close(),
  }
}

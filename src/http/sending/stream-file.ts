import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import type { FastifyReply } from 'fastify'

/** A client that stops reading must not block others that wait to export. */
const STALL_TIMEOUT_MS = 30_000

/** Resolves when there is room for the next part. */
export type WriteChunk = (part: string | Uint8Array) => Promise<void>

/**
 * Streams a file while it is produced, no faster than the client reads.
 *
 * @param work writes at least one part. An error before the first part is answered as usual. A later error cuts the connection, so that the
 *   client notices that the file is incomplete. Writing rejects once the client has disconnected or stalled.
 */
export async function streamFile(
  reply: FastifyReply,
  { name, type }: { name: string; type: string },
  work: (write: WriteChunk) => Promise<void>,
): Promise<FastifyReply> {
  const file = new PassThrough()
  const disconnected = new AbortController()
  file.on('error', () => {}) // Fastify handles the error of the stream
  file.on('close', () => disconnected.abort())
  const started = Promise.withResolvers<void>()
  const write: WriteChunk = async (part) => {
    disconnected.signal.throwIfAborted()
    started.resolve()
    if (part.length === 0 || file.write(part)) return
    await once(file, 'drain', { signal: AbortSignal.any([disconnected.signal, AbortSignal.timeout(STALL_TIMEOUT_MS)]) })
  }
  work(write).then(
    () => file.end(),
    (error: Error) => {
      started.reject(error)
      file.destroy(error)
    },
  )
  await started.promise
  reply.header('content-disposition', `attachment; filename="${name}"`)
  return reply.type(type).send(file)
}

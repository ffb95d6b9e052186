import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import type { FastifyReply } from 'fastify'

/** Milliseconds for which a client may read nothing: somebody else may be waiting to export. */
const STALLED_AFTER_MS = 30_000

/** Takes the next part of a file; done when there is room for another. */
export type WritePart = (part: string | Uint8Array) => Promise<void>

/**
 * Sends a file while it is being made, no faster than the client reads it.
 *
 * @param work writes the parts, at least one. What it throws before the first is answered as any other error; later the answer breaks off, so
 *   that nobody takes a part for the whole. When the client hangs up, or stops reading, writing fails.
 */
export async function sendInParts(
  reply: FastifyReply,
  { name, type }: { name: string; type: string },
  work: (write: WritePart) => Promise<void>,
): Promise<FastifyReply> {
  const file = new PassThrough()
  const gone = new AbortController()
  file.on('error', () => {}) // who sends it is told as well
  file.on('close', () => gone.abort())
  const begun = Promise.withResolvers<void>()
  const write: WritePart = async (part) => {
    gone.signal.throwIfAborted()
    begun.resolve()
    if (part.length === 0 || file.write(part)) return
    await once(file, 'drain', { signal: AbortSignal.any([gone.signal, AbortSignal.timeout(STALLED_AFTER_MS)]) })
  }
  work(write).then(
    () => file.end(),
    (error: Error) => {
      begun.reject(error)
      file.destroy(error)
    },
  )
  await begun.promise
  reply.header('content-disposition', `attachment; filename="${name}"`)
  return reply.type(type).send(file)
}

import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { constants, createGzip, gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** Smaller answers save less than the headers add. */
const MIN_BYTES = 1_024
/** HTML is not compressed: pages mix secrets with text from others, which the BREACH attack needs. */
const COMPRESSED_TYPES = /^(application\/json|text\/csv)\b/
const OPTIONS = { level: 4 }

const compress = promisify<Buffer | string, { level: number }, Buffer>(gzip)

/**
 * Compresses JSON and CSV for clients that accept gzip, outside of the event loop. Not compressed: JSON with `Cache-Control: no-store`, which
 * holds a secret, and byte ranges.
 */
export function compressResponses(app: FastifyInstance): void {
  // A hook of the route runs after those of its scopes, which see the uncompressed body. It comes before the route's other hooks, because
  // for HEAD they remove the body.
  app.addHook('onRoute', (route) => {
    const ownHooks = [route.onSend ?? []].flat()
    route.onSend = [compressPayload, ...ownHooks]
  })
}

type Done = (error: Error | null, payload?: unknown) => void

function compressPayload(request: FastifyRequest, reply: FastifyReply, payload: unknown, done: Done): void {
  if (!isCompressible(reply, payload)) {
    done(null, payload)
    return
  }
  reply.header('vary', 'accept-encoding')
  if (!acceptsGzip(request)) {
    done(null, payload)
    return
  }
  reply.header('content-encoding', 'gzip').removeHeader('content-length')
  if (isText(payload)) compress(payload, OPTIONS).then((compressed) => done(null, compressed), done)
  else done(null, isStream(payload) ? compressStream(payload) : payload)
}

function isCompressible(reply: FastifyReply, payload: unknown): boolean {
  const type = COMPRESSED_TYPES.exec(String(reply.getHeader('content-type') ?? ''))?.[1]
  if (!type || reply.hasHeader('content-encoding') || reply.hasHeader('content-range')) return false
  if (type === 'application/json' && String(reply.getHeader('cache-control') ?? '').includes('no-store')) return false
  return isText(payload) ? Buffer.byteLength(payload) >= MIN_BYTES : isStream(payload)
}

/** Flushes each batch. If one of the two streams ends early, the other is destroyed. */
function compressStream(payload: Readable): Readable {
  const compressed = createGzip({ ...OPTIONS, flush: constants.Z_SYNC_FLUSH })
  payload.on('error', (error) => compressed.destroy(error))
  compressed.on('close', () => payload.destroy())
  return payload.pipe(compressed)
}

const isText = (payload: unknown): payload is string | Buffer => typeof payload === 'string' || Buffer.isBuffer(payload)

const isStream = (payload: unknown): payload is Readable => payload instanceof Readable

/** True if `Accept-Encoding` has `gzip` or `*` with a weight above 0 (RFC 9110, section 12.5.3). */
export function acceptsGzip({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  const accepted = headers['accept-encoding']
  if (accepted === undefined) return false
  const weights = new Map(
    String(accepted)
      .toLowerCase()
      .split(',')
      .map((item) => {
        const [name = '', ...parameters] = item.split(';').map((part) => part.trim())
        return [name, !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))] as const
      }),
  )
  return weights.get('gzip') ?? weights.get('*') ?? false
}

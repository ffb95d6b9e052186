import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { constants, createGzip, gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** Smaller ones gain less than the headers take. */
const MIN_BYTES = 1_024
/** What gains much, and is not shown to a person: pages hold what only their reader may know, beside what others can put in. */
const COMPRESSED = /^(application\/json|text\/csv)\b/
/** Little work for most of what there is to gain. */
const OPTIONS = { level: 4 }

const compress = promisify<Buffer | string, { level: number }, Buffer>(gzip)

/**
 * Compresses answers in JSON and CSV for clients that take them so, away from the event loop. Not JSON that holds a secret, which
 * its `Cache-Control: no-store` says, nor a part of something. Others' answers stay as they are, to the byte.
 */
export function compressAnswers(app: FastifyInstance): void {
  // Of each route, to come after the hooks of its scopes: what these see is not compressed. Before its own, which for HEAD take the body away.
  app.addHook('onRoute', (route) => {
    const own = [route.onSend ?? []].flat()
    route.onSend = [compressPayload, ...own]
  })
}

type Done = (error: Error | null, payload?: unknown) => void

function compressPayload(request: FastifyRequest, reply: FastifyReply, payload: unknown, done: Done): void {
  if (!isWorthIt(reply, payload)) {
    done(null, payload)
    return
  }
  reply.header('vary', 'accept-encoding')
  if (!takesGzip(request)) {
    done(null, payload)
    return
  }
  reply.header('content-encoding', 'gzip').removeHeader('content-length')
  if (isText(payload)) compress(payload, OPTIONS).then((compressed) => done(null, compressed), done)
  else done(null, isStream(payload) ? compressStream(payload) : payload)
}

function isWorthIt(reply: FastifyReply, payload: unknown): boolean {
  const type = COMPRESSED.exec(String(reply.getHeader('content-type') ?? ''))?.[1]
  if (!type || reply.hasHeader('content-encoding') || reply.hasHeader('content-range')) return false
  if (type === 'application/json' && String(reply.getHeader('cache-control') ?? '').includes('no-store')) return false
  return isText(payload) ? Buffer.byteLength(payload) >= MIN_BYTES : isStream(payload)
}

/** Each batch goes out when it is there. Whichever of the two ends early takes the other with it. */
function compressStream(payload: Readable): Readable {
  const compressed = createGzip({ ...OPTIONS, flush: constants.Z_SYNC_FLUSH })
  payload.on('error', (error) => compressed.destroy(error))
  compressed.on('close', () => payload.destroy())
  return payload.pipe(compressed)
}

const isText = (payload: unknown): payload is string | Buffer => typeof payload === 'string' || Buffer.isBuffer(payload)

const isStream = (payload: unknown): payload is Readable => payload instanceof Readable

/** Whether the client takes gzip: it names it, or anything, and not with a weight of nothing (RFC 9110, section 12.5.3). */
export function takesGzip({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  const asked = headers['accept-encoding']
  if (asked === undefined) return false
  const weights = new Map(
    String(asked)
      .toLowerCase()
      .split(',')
      .map((item) => {
        const [name = '', ...parameters] = item.split(';').map((part) => part.trim())
        return [name, !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))] as const
      }),
  )
  return weights.get('gzip') ?? weights.get('*') ?? false
}

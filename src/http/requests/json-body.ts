import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { scan } from 'secure-json-parse'
import { HttpError } from '../errors/failure.ts'
import type { BodyReader } from './bodies.ts'

/** Far more levels than any field has; the stack of whatever walks a body by recursion ends at a few thousand. */
const MAX_DEPTH = 32

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Reads JSON bodies more strictly than Fastify does: compressed bodies, invalid UTF-8, a `__proto__` member and nesting without
 * end are refused, not repaired or ignored. An empty body, of whatever type,
 * is left to the validation of the fields.
 *
 * @param readBody how bodies come into memory, where not as Fastify does it.
 */
export function readJsonBodies(app: FastifyInstance, readBody?: BodyReader): void {
  app.removeAllContentTypeParsers()
  refuseCompressedBodies(app)
  forgiveTypesOfEmptyBodies(app)
  if (readBody)
    app.addContentTypeParser('application/json', async (request: FastifyRequest, payload: IncomingMessage) =>
      parseBody(request, await readBody(request, payload)),
    )
  else
    app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) =>
      parseBody(request, body),
    )
}

/** @returns undefined for an empty one. */
function parseBody({ headers }: FastifyRequest, body: Buffer): unknown {
  if (body.length === 0) return undefined
  const value = parseStrictly(body, charsetOf(headers))
  if (isTooDeep(value)) throw new HttpError('malformed_json', { detail: `nested more than ${MAX_DEPTH} levels deep` })
  return value
}

function refuseCompressedBodies(app: FastifyInstance): void {
  app.addHook('preParsing', ({ headers, method, is404 }, _reply, payload, done) => {
    const isEmpty = headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0'
    const isIgnored = is404 || isEmpty || method === 'GET' || method === 'HEAD'
    if (!isIgnored && isCompressed(headers)) return done(new HttpError('unsupported_encoding'))
    done(null, payload)
  })
}

/** Clients give a type even to what they don't send: axios that of a form. Without a type an empty body is none. */
function forgiveTypesOfEmptyBodies(app: FastifyInstance): void {
  app.addHook('preParsing', (request, _reply, payload, done) => {
    const { headers, method } = request
    if (method === 'GET' || method === 'HEAD') return done() // their bodies are not read
    const isChunked = headers['transfer-encoding'] !== undefined
    if (!isChunked && headers['content-type'] === undefined) return done()
    if (!isChunked && (headers['content-length'] ?? '0') === '0') headers['content-type'] = undefined
    if (!isChunked || request.is404 || isJson(headers)) return done()
    // Whether there is anything in chunks shows when the first, or their end, arrives.
    const takeForNone = () => {
      headers['content-type'] = undefined
      headers['transfer-encoding'] = undefined
      done()
    }
    payload.once('end', takeForNone)
    payload.once('data', () => {
      payload.off('end', takeForNone)
      done(new HttpError('unsupported_media_type'))
    })
  })
}

const isJson = ({ 'content-type': type = '' }: IncomingHttpHeaders): boolean => /^\s*application\/json\s*(;|$)/i.test(type)

const isCompressed = ({ 'content-encoding': encoding = '' }: IncomingHttpHeaders): boolean =>
  !/^\s*(identity\s*)?$/i.test(encoding)

function parseStrictly(body: Buffer, charset: string): unknown {
  const value = parseText(body, charset)
  try {
    if (typeof value === 'object' && value !== null) scan(value)
  } catch {
    throw new HttpError('forbidden_property')
  }
  return value
}

function parseText(body: Buffer, charset: string): unknown {
  const text = decode(body)
  try {
    if (text !== undefined) return JSON.parse(text)
  } catch (error) {
    if (isUtf8(charset)) throw new HttpError('malformed_json', { detail: (error as Error).message })
  }
  throw new HttpError('malformed_json', { detail: `it must be encoded in UTF-8${isUtf8(charset) ? '' : `, not in ${charset}`}` })
}

function decode(body: Buffer): string | undefined {
  try {
    return utf8.decode(body)
  } catch {
    return undefined
  }
}

/** The declared encoding; RFC 8259 knows UTF-8 only. */
const charsetOf = ({ 'content-type': type = '' }: IncomingHttpHeaders): string =>
  /;\s*charset\s*=\s*"?([\w.:-]{1,40})/i.exec(type)?.[1]?.toLowerCase() ?? 'utf-8'
const isUtf8 = (charset: string): boolean => /^utf-?8$/.test(charset)

function isTooDeep(value: unknown): boolean {
  let level = [value]
  for (let depth = 0; depth <= MAX_DEPTH; depth++) {
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []))
    if (level.length === 0) return false
  }
  return true
}

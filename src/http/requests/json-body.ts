import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { scan } from 'secure-json-parse'
import { HttpError } from '../errors/failure.ts'
import type { BodyReader } from './body-reader.ts'
import { limitLargeBodies } from './large-bodies.ts'

/** Far more levels than any body has. Recursive functions overflow the stack at a few thousand. */
const MAX_DEPTH = 32

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Reads JSON bodies more strictly than Fastify: compressed bodies, invalid UTF-8, `__proto__` members, and deep nesting are errors. An empty
 * body of any type is accepted; validation reports missing fields.
 *
 * @param readBody replaces Fastify's own reading of bodies.
 */
export function readJsonBodies(app: FastifyInstance, readBody?: BodyReader): void {
  app.removeAllContentTypeParsers()
  refuseCompressedBodies(app)
  forgiveTypesOfEmptyBodies(app)
  if (readBody) parseJson(app, readBody)
  else
    app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) =>
      parseBody(request, body),
    )
}

/** Replaces the parser of {@link readJsonBodies} in a scope with bodies of megabytes. */
export function readLargeJsonBodies(app: FastifyInstance): void {
  app.removeContentTypeParser('application/json')
  parseJson(app, limitLargeBodies(app))
}

function parseJson(app: FastifyInstance, readBody: BodyReader): void {
  app.addContentTypeParser('application/json', async (request: FastifyRequest, payload: IncomingMessage) =>
    parseBody(request, await readBody(request, payload)),
  )
}

/** @returns undefined for an empty body. */
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

/** Some clients send a content type with an empty body, as axios does. Without the type Fastify sees no body. */
function forgiveTypesOfEmptyBodies(app: FastifyInstance): void {
  app.addHook('preParsing', (request, _reply, payload, done) => {
    const { headers, method } = request
    if (method === 'GET' || method === 'HEAD') return done() // their bodies are not read
    const isChunked = headers['transfer-encoding'] !== undefined
    if (!isChunked && headers['content-type'] === undefined) return done()
    if (!isChunked && (headers['content-length'] ?? '0') === '0') headers['content-type'] = undefined
    if (!isChunked || request.is404 || isJson(headers)) return done()
    // A chunked body turns out to be empty when it ends without data.
    const dropEmptyBody = () => {
      headers['content-type'] = undefined
      headers['transfer-encoding'] = undefined
      done()
    }
    payload.once('end', dropEmptyBody)
    payload.once('data', () => {
      payload.off('end', dropEmptyBody)
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

/** RFC 8259 allows UTF-8 only. */
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

import type { FastifyInstance } from 'fastify'
import { parse } from 'secure-json-parse'
import { HttpError } from './failure.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Reads JSON bodies more strictly than Fastify does: invalid UTF-8 and a `__proto__` member are refused, not repaired. An empty body
 * is left to the validation of the fields.
 */
export function readJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) => {
    if (body.length === 0) return undefined
    try {
      return parse(utf8.decode(body))
    } catch (error) {
      throw new HttpError('malformed_json', { detail: (error as Error).message })
    }
  })
}

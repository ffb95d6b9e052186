import type { FastifyInstance } from 'fastify'
import { HttpError } from './failure.ts'

/**
 * Reads JSON bodies more strictly than Fastify does: invalid UTF-8 and a `__proto__` member are refused, not repaired. An empty body
 * is left to the validation of the fields.
 */
export function readJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  const parse = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    if (body.length === 0) return done(null, undefined)
    let text: string
    try {
      text = new TextDecoder('utf-8', { fatal: true }).decode(body)
    } catch {
      return done(new HttpError('malformed_json', { detail: 'the body is not UTF-8' }))
    }
    parse(request, text, (error, value) => {
      if (error) done(new HttpError('malformed_json', { detail: error.message }))
      else done(null, value)
    })
  })
}

import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { HttpError } from '../../../http/errors/failure.ts'
import { decodeText } from '../../../http/requests/decode-text.ts'
import { parseFields, refuseTooManyFields } from '../../../http/requests/form-fields.ts'
import { limitLargeBodies } from '../../../http/requests/large-bodies.ts'

declare module 'fastify' {
  interface FastifyRequest {
    upload?: { name: string; bytes: Uint8Array }
  }
}

/** Form value with the name of the uploaded file. */
export const FILE_NAME = 'fileName'

/**
 * Also parses multipart/form-data in this scope, whose bodies may be megabytes. A file becomes a text value. The limit is the route's `bodyLimit`.
 *
 * @param binaryField name of a file that stays binary: in `request.upload`, and not among the values.
 * @param mostTyped most characters of all text fields together, with or without a file: the route's limit then applies to the file alone.
 */
export function readUploads(app: FastifyInstance, binaryField?: string, mostTyped = Number.POSITIVE_INFINITY): void {
  const readBody = limitLargeBodies(app)
  app.addContentTypeParser('multipart/form-data', async (request: FastifyRequest, payload: IncomingMessage) => {
    const values = new URLSearchParams()
    let typed = 0
    for (const [name, value] of await parseForm(request.headers['content-type']!, await readBody(request, payload))) {
      typed += name.length + (typeof value === 'string' ? value.length : 0)
      if (typed > mostTyped) throw new HttpError('body_too_large')
      if (typeof value === 'string') values.append(name, value)
      else if (name === binaryField) request.upload = { name: value.name, bytes: await value.bytes() }
      else {
        values.append(name, decodeText(await value.bytes()))
        values.append(FILE_NAME, value.name)
      }
    }
    return values
  })
  // Replaces the parser for forms without a file.
  const type = 'application/x-www-form-urlencoded'
  app.removeContentTypeParser(type)
  app.addContentTypeParser(type, async (request: FastifyRequest, payload: IncomingMessage) => {
    const body = (await readBody(request, payload)).toString()
    if (body.length > mostTyped) throw new HttpError('body_too_large')
    return parseFields(body)
  })
}

/** @throws HttpError malformed_request, body_too_large. */
async function parseForm(type: string, body: Buffer): Promise<FormData> {
  const [, boundary] = /\bboundary="?([^";\s]+)/i.exec(type) ?? []
  if (boundary === undefined) throw new HttpError('malformed_request')
  refuseTooManyFields(body, `--${boundary}`)
  return new Response(body, { headers: { 'content-type': type } }).formData().catch(() => {
    throw new HttpError('malformed_request')
  })
}

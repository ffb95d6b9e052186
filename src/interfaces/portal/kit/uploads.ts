import type { FastifyInstance, FastifyRequest } from 'fastify'
import { HttpError } from '../../../http/errors/failure.ts'

/**
 * Reads the bodies of the scope also as forms with files (multipart/form-data). A file becomes its text: UTF-8 or, where it is none, what
 * a spreadsheet writes: UTF-16, which says so by its first two bytes, or what is usual on Windows. The limit is the route's `bodyLimit`.
 */
export function readUploads(app: FastifyInstance): void {
  app.addContentTypeParser(
    'multipart/form-data',
    { parseAs: 'buffer' },
    async ({ headers }: FastifyRequest, body: Buffer<ArrayBuffer>): Promise<URLSearchParams> => {
      const values = new URLSearchParams()
      for (const [name, value] of await parseForm(headers['content-type']!, body))
        values.append(name, typeof value === 'string' ? value : decode(await value.bytes()))
      return values
    },
  )
}

/** @throws HttpError malformed_request. */
const parseForm = (type: string, body: Buffer<ArrayBuffer>): Promise<FormData> =>
  new Response(body, { headers: { 'content-type': type } }).formData().catch(() => {
    throw new HttpError('malformed_request')
  })

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    const [first, second] = bytes
    if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
    if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes)
    return new TextDecoder('windows-1252').decode(bytes)
  }
}

import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { createCompressed } from '../pages/assets.ts'
import { takesGzip } from '../sending/compression.ts'
import { isKnown } from '../sending/etag.ts'

/** A text that is the same for everybody: its bytes, as they are and compressed, and what tells it from another. */
type Prerendered = { content: Buffer; compressed: () => Promise<Buffer>; opaque: string }

export function prerender(text: string): Prerendered {
  const content = Buffer.from(text)
  return { content, compressed: createCompressed(content), opaque: `"${hash('sha256', content, 'base64url').slice(0, 22)}"` }
}

/** Sends it, or to whoever has it already that they have. Browsers keep it, and ask each time whether it is still so. */
export async function sendPrerendered(
  request: FastifyRequest,
  reply: FastifyReply,
  type: string,
  { content, compressed, opaque }: Prerendered,
): Promise<FastifyReply> {
  reply.headers({ etag: `W/${opaque}`, 'cache-control': 'no-cache', vary: 'accept-encoding' })
  if (isKnown(request, opaque)) return reply.code(304).send()
  reply.type(`${type}; charset=utf-8`)
  return takesGzip(request) ? reply.header('content-encoding', 'gzip').send(await compressed()) : reply.send(content)
}

/** Made when first asked for, and once. */
export function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

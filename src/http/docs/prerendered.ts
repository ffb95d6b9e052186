import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { compress } from '../pages/assets.ts'
import { acceptsGzip } from '../sending/compression.ts'
import { matchesIfNoneMatch } from '../sending/etag.ts'

/** A response body that is the same for all clients. @property opaque ETag without `W/`. */
type Prerendered = { content: Buffer; compressed: () => Promise<Buffer>; opaque: string }

export function prerender(text: string): Prerendered {
  const content = Buffer.from(text)
  return { content, compressed: () => compress(content), opaque: `"${hash('sha256', content, 'base64url').slice(0, 22)}"` }
}

/** Sends the body, or 304. Browsers cache it and revalidate each time. */
export async function sendPrerendered(
  request: FastifyRequest,
  reply: FastifyReply,
  type: string,
  { content, compressed, opaque }: Prerendered,
): Promise<FastifyReply> {
  reply.headers({ etag: `W/${opaque}`, 'cache-control': 'no-cache', vary: 'accept-encoding' })
  if (matchesIfNoneMatch(request, opaque)) return reply.code(304).send()
  reply.type(`${type}; charset=utf-8`)
  return acceptsGzip(request) ? reply.header('content-encoding', 'gzip').send(await compressed()) : reply.send(content)
}

/** Calls `create` on the first use, and only once. */
export function createLazily<T>(create: () => T): () => T {
  let value: T | undefined
  return () => {
    value ??= create()
    return value
  }
}

import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context, ServiceContext } from '../../domain/context.ts'
import { type Media, readArrived, readMedia } from '../../domain/submissions/media/media.ts'
import { findRange } from './range.ts'

const EXTENSIONS: Record<string, string> = {
  'image/jpeg': 'jpg',
  'video/webm': 'webm',
  'audio/webm': 'webm',
  'video/mp4': 'mp4',
  'audio/mp4': 'm4a',
}

const headersOf = ({ kind, contentType }: Media, how: 'inline' | 'attachment') => ({
  'cache-control': 'private, no-store',
  'content-disposition': `${how}; filename="${kind.replace('_', '-')}.${EXTENSIONS[contentType] ?? 'bin'}"`,
  'x-content-type-options': 'nosniff',
})

/** Sends what has arrived of a recording that could not be made one file, to be kept and looked at with other programs. */
export function sendArrived(ctx: Context, request: FastifyRequest, reply: FastifyReply, media: Media): FastifyReply {
  reply.type('application/octet-stream').headers(headersOf(media, 'attachment'))
  return reply.send(request.method === 'HEAD' ? undefined : Readable.from(readArrived(ctx, media)))
}

/** Sends a photo or a recording, or the range of it that is asked for. @param ctx what reads it. */
export async function sendMedia(
  ctx: Pick<ServiceContext, 'deps'>,
  request: FastifyRequest,
  reply: FastifyReply,
  media: Media,
): Promise<FastifyReply> {
  const bytes = Number(media.bytes)
  const range = findRange(request.headers, bytes)
  reply.type(media.contentType).headers({ 'accept-ranges': 'bytes', ...headersOf(media, 'inline') })
  if (range === 'unsatisfiable') return reply.code(416).header('content-range', `bytes */${bytes}`).send()
  const { start, end } = range ?? { start: 0, end: bytes - 1 }
  if (range) reply.code(206).header('content-range', `bytes ${start}-${end}/${bytes}`)
  reply.header('content-length', end - start + 1)
  return reply.send(request.method === 'HEAD' ? undefined : await readMedia(ctx, media, range))
}

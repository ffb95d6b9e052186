import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { getMedia, type Media, readMedia } from '../../domain/submissions/media.ts'
import { findRange } from '../../http/range.ts'

type MediaRoute = { Params: { mediaId: string } }

const EXTENSIONS: Record<string, string> = {
  'image/jpeg': 'jpg',
  'video/webm': 'webm',
  'audio/webm': 'webm',
  'video/mp4': 'mp4',
  'audio/mp4': 'm4a',
}

/** Photos and recordings for who may see the submission that they belong to. */
export function mediaRoutes(app: FastifyInstance): void {
  app.route<MediaRoute>({
    method: ['GET', 'HEAD'],
    url: '/media/:mediaId',
    async handler(request, reply) {
      return serve(request, reply, await getMedia(request.ctx, request.params.mediaId))
    },
  })
}

async function serve(request: FastifyRequest, reply: FastifyReply, media: Media): Promise<FastifyReply> {
  const bytes = Number(media.bytes)
  const range = findRange(request.headers, bytes)
  reply.type(media.contentType).headers({
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-store',
    'content-disposition': `inline; filename="${media.kind.replace('_', '-')}.${EXTENSIONS[media.contentType]}"`,
    'x-content-type-options': 'nosniff',
  })
  if (range === 'unsatisfiable') return reply.code(416).header('content-range', `bytes */${bytes}`).send()
  const { start, end } = range ?? { start: 0, end: bytes - 1 }
  if (range) reply.code(206).header('content-range', `bytes ${start}-${end}/${bytes}`)
  reply.header('content-length', end - start + 1)
  return reply.send(request.method === 'HEAD' ? undefined : await readMedia(request.ctx, media, range))
}

import type { FastifyInstance } from 'fastify'
import { getMedia } from '../../../domain/submissions/media/media.ts'
import { sendMedia, sendPartialMedia } from '../../../http/sending/send-media.ts'

type MediaRoute = { Params: { mediaId: string } }

/** Photos and recordings, for members who may see their submission. */
export function mediaRoutes(app: FastifyInstance): void {
  app.route<MediaRoute>({
    method: ['GET', 'HEAD'],
    url: '/media/:mediaId',
    async handler(request, reply) {
      const { ctx, params } = request
      const media = await getMedia(ctx, params.mediaId)
      return media.state === 'ready' ? sendMedia(ctx, request, reply, media) : sendPartialMedia(ctx, request, reply, media)
    },
  })
}

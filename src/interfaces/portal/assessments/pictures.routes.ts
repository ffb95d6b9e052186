import type { FastifyInstance } from 'fastify'
import { getAsset } from '../../../domain/assets/assets.ts'
import { sendAsset } from '../../../http/sending/send-media.ts'

type PictureRoute = { Params: { pictureId: string } }

/** Pictures of questions, for members who can read questions. */
export function picturesRoutes(app: FastifyInstance): void {
  app.route<PictureRoute>({
    method: ['GET', 'HEAD'],
    url: '/pictures/:pictureId',
    handler: async (request, reply) =>
      sendAsset(request.ctx, request, reply, await getAsset(request.ctx, request.params.pictureId)),
  })
}

import type { FastifyInstance } from 'fastify'
import type { ServiceContext } from '../../domain/context.ts'
import { findLinkedMedia } from '../../domain/submissions/media/media.ts'
import { sendMedia } from '../../http/sending/send-media.ts'

type Options = { system: ServiceContext; secretKeys: readonly string[] }

/** Serves recordings by the signed links of API v1. Pages of other sites may play them, because the link is the credential. */
export async function linkedMedia(app: FastifyInstance, { system, secretKeys }: Options): Promise<void> {
  app.route<{ Params: { token: string } }>({
    method: ['GET', 'HEAD'],
    url: '/:token',
    async handler(request, reply) {
      const media = await findLinkedMedia(system, secretKeys, request.params.token)
      reply.headers({ 'cross-origin-resource-policy': 'cross-origin', 'x-robots-tag': 'noindex, nofollow' })
      return sendMedia(system, request, reply, media)
    },
  })
}

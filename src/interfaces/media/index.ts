import type { FastifyInstance } from 'fastify'
import type { ServiceContext } from '../../domain/context.ts'
import { findLinkedMedia } from '../../domain/submissions/media/media.ts'
import { sendMedia } from '../../http/sending/send-media.ts'

type Options = { system: ServiceContext; secretKeys: readonly string[] }

/** Recordings behind the links that API v1 hands out. Other sites' pages may play them: the link is the permission. */
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

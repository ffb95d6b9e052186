import type { FastifyInstance } from 'fastify'
import { DomainError } from '../../../domain/errors.ts'
import { readInvitation } from '../../../domain/secrets/invitation-tokens.ts'
import { enterSession } from '../../../domain/submissions/taking/session.ts'
import { showPicture } from '../../../domain/submissions/taking/show-picture.ts'
import { sendAsset } from '../../../http/sending/send-media.ts'
import type { Options } from '../kit/settings.ts'

/** The pictures of a candidate's own questions, below their link. */
export function picturesRoutes(app: FastifyInstance, { system, settings }: Options): void {
  app.route<{ Params: { token: string; pictureId: string } }>({
    method: ['GET', 'HEAD'],
    url: '/:token/pictures/:pictureId',
    async handler(request, reply) {
      const ref = readInvitation(settings.secretKeys, request.params.token)
      if (!ref) throw new DomainError('invite_not_found')
      const picture = await showPicture(await enterSession(system, ref), request.params.pictureId)
      return sendAsset(system, request, reply, picture)
    },
  })
}

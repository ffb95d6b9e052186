import type { FastifyInstance } from 'fastify'
import type { ServiceContext } from '../../domain/context.ts'
import { INVITATION_PATH } from '../../domain/invites/links.ts'
import { serveAssets } from '../../http/assets.ts'
import { answerFailures } from '../../http/envelope.ts'
import { assets } from './assets.ts'
import { candidateEnvelope } from './errors.ts'
import { readForms } from './forms.ts'
import { candidateHeaders } from './headers.ts'
import { invitationRoutes } from './invitation.routes.ts'
import { sessionRoutes } from './session.routes.ts'
import type { CandidateSettings } from './settings.ts'
import { takingRoutes } from './taking.routes.ts'

/** The pages behind the link in the mail. Opening one changes nothing, because mail scanners follow links: only its forms do. */
export async function candidatePages(
  app: FastifyInstance,
  { system, settings }: { system: ServiceContext; settings: CandidateSettings },
): Promise<void> {
  const { playerUrl } = settings
  const headers = candidateHeaders(playerUrl ? [new URL(playerUrl).origin] : [])
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(headers)
  })
  answerFailures(app, () => candidateEnvelope)
  serveAssets(app, INVITATION_PATH, assets)
  readForms(app)
  invitationRoutes(app, { system, settings })
  if (playerUrl) return
  takingRoutes(app, { system, settings })
  await app.register((scope) => sessionRoutes(scope, { system, settings }), { prefix: '/:token/session' })
}

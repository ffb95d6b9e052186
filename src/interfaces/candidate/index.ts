import type { FastifyInstance } from 'fastify'
import { INVITATION_PATH } from '../../http/addresses/links.ts'
import { answerErrors } from '../../http/errors/envelope.ts'
import { createRequestCounter } from '../../http/limits/request-counter.ts'
import { serveAssets } from '../../http/pages/assets.ts'
import { createBodyReader } from '../../http/requests/body-reader.ts'
import { brandRoutes } from './brand/brand.routes.ts'
import { assets } from './kit/assets.ts'
import { candidateEnvelope } from './kit/errors.ts'
import { readForms } from './kit/forms.ts'
import { candidateHeaders } from './kit/headers.ts'
import type { Options } from './kit/settings.ts'
import { invitationRoutes } from './pages/invitation.routes.ts'
import { picturesRoutes } from './pages/pictures.routes.ts'
import { practiceRoutes } from './pages/practice.routes.ts'
import { takingRoutes } from './pages/taking.routes.ts'
import { previewRoutes } from './preview/preview.routes.ts'
import { sessionRoutes } from './session/session.routes.ts'

/** Most bytes of request bodies in memory, for all candidates together: 70 of the largest parts. */
const BODY_BUDGET = 64 * 1024 * 1024
/** Saved texts per link and minute. Pages save at most once a second. */
const MAX_TEXTS = 120

/** Pages behind the link in the mail. Opening a page changes nothing, because mail scanners follow links. Only forms do. */
export async function candidatePages(
  app: FastifyInstance,
  { system, settings, countPage }: Pick<Options, 'system' | 'settings' | 'countPage'>,
): Promise<void> {
  const { playerUrl } = settings
  const headers = candidateHeaders(playerUrl ? [new URL(playerUrl).origin] : [])
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(headers)
  })
  const envelope = candidateEnvelope(settings.languages)
  answerErrors(app, () => envelope)
  serveAssets(app, INVITATION_PATH, assets)
  const countSaved = createRequestCounter()
  const options: Options = {
    system,
    settings,
    countPage,
    readBody: createBodyReader(BODY_BUDGET),
    countText: (inviteId: string) => countSaved(inviteId, MAX_TEXTS),
  }
  readForms(app, options.readBody)
  brandRoutes(app, options)
  invitationRoutes(app, options)
  await app.register((scope) => previewRoutes(scope, options))
  if (playerUrl) return
  takingRoutes(app, options)
  practiceRoutes(app, options)
  picturesRoutes(app, options)
  await app.register((scope) => sessionRoutes(scope, options), { prefix: '/:token/session' })
}

import type { FastifyInstance } from 'fastify'
import { join, readJoinOffer } from '../../../domain/members/join.ts'
import { readAccountLink } from '../../../domain/secrets/account-tokens.ts'
import { findOfferedProviders, listOperatorProviders } from '../../../domain/single-sign-on/find-providers.ts'
import { emptyForm, readFields, submit } from '../kit/forms.ts'
import { homeOf, show } from '../kit/layout.ts'
import { browserOf } from './browser-of.ts'
import { invalidLinkPage, joinPage } from './join.page.ts'
import { continueSignIn } from './pending-second-step.ts'
import { signInContext } from './session.ts'
import type { Portal } from './settings.ts'
import { redirectToProvider } from './single-sign-on.routes.ts'

type Route = { Params: { token: string } }

export function joinRoutes(app: FastifyInstance, portal: Portal): void {
  const { system, settings } = portal
  const read = async (token: string) => {
    const ref = readAccountLink(settings.secretKeys, 'join', token)
    const offer = ref && (await readJoinOffer(system, ref))
    if (!offer) return null
    const providers = await findOfferedProviders(system, offer.organizationId)
    return { ref, offer, providers: offer.isBySsoOnly ? providers : [...providers, ...listOperatorProviders(system)] }
  }

  app.get<Route>('/join/:token', async (request, reply) => {
    const { token } = request.params
    const link = await read(token)
    return link ? show(request, reply, joinPage(emptyForm, token, link)) : show(request, reply, invalidLinkPage, 404)
  })

  app.get<{ Params: { token: string; providerId: string } }>('/join/:token/with/:providerId', async (request, reply) => {
    const { token } = request.params
    const link = await read(token)
    if (!link) return show(request, reply, invalidLinkPage, 404)
    return redirectToProvider(portal, request, reply, { kind: 'join', token }, homeOf({ id: link.offer.organizationId }))
  })

  app.post<Route>('/join/:token', { config: { hasOwnQueue: true } }, async (request, reply) => {
    const { token } = request.params
    const link = await read(token)
    if (!link) return show(request, reply, invalidLinkPage, 404)
    return submit(request, reply, {
      page: async (form) => joinPage(form, token, (await read(token)) ?? link),
      async work(values) {
        const input = { ...readFields(values, 'firstName', 'lastName', 'password'), browser: browserOf(request) }
        const joined = await join(signInContext(system, request), link.ref, input)
        if (!joined) return invalidLinkPage
        return continueSignIn(portal, request, reply, { entry: joined, next: homeOf({ id: joined.organizationId }) })
      },
    })
  })
}

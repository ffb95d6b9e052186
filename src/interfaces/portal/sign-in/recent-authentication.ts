import type { FastifyInstance } from 'fastify'
import type { ServiceContext } from '../../../domain/context.ts'
import { hasFactor } from '../../../domain/sign-in/has-factor.ts'
import { isRecentlyAuthenticated } from '../../../domain/sign-in/recent-authentication.ts'
import { authenticateAddress } from './authenticate.page.ts'
import { secondStepAddress } from './second-step.page.ts'
import { signInAddress } from './session.ts'
import { turnAway } from './turn-away.ts'

/** Enforces `config.requiresRecentAuthentication`, after all other checks of the scope. */
export function requireRecentAuthentication(app: FastifyInstance, system: ServiceContext): void {
  app.addHook('onRoute', (route) => {
    if (!route.config?.requiresRecentAuthentication) return
    route.onRequest = [
      ...[route.onRequest ?? []].flat(),
      async (request, reply) => {
        const { signedIn, ctx, parking } = request
        if (parking) return
        if (!signedIn) return turnAway(system, request, reply, signInAddress)
        if (await isRecentlyAuthenticated(system, signedIn, ctx?.organization.id ?? null)) return
        const addressOf = (await hasFactor(system, signedIn.credential.id)) ? secondStepAddress : authenticateAddress
        return turnAway(system, request, reply, addressOf)
      },
    ]
  })
}

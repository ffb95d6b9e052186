import type { FastifyInstance } from 'fastify'
import type { ServiceContext } from '../../../domain/context.ts'
import { isFresh } from '../../../domain/sign-in/fresh.ts'
import { hasFactor } from '../../../domain/sign-in/has-factor.ts'
import { proveAddress } from './prove.page.ts'
import { secondStepAddress } from './second-step.page.ts'
import { signInAddress } from './session.ts'
import { turnAway } from './turn-away.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether a session that was left open is not enough: asked of whoever has not shown in the last quarter of an hour who they are. */
    fresh?: boolean
  }
}

/** Asks for a fresh proof where a route says so: the one place that does, behind all that its scope asks for. */
export function askForFreshProofs(app: FastifyInstance, system: ServiceContext): void {
  app.addHook('onRoute', (route) => {
    if (!route.config?.fresh) return
    route.onRequest = [
      ...[route.onRequest ?? []].flat(),
      async (request, reply) => {
        const { signedIn, ctx, parking } = request
        if (parking) return
        if (!signedIn) return turnAway(system, request, reply, signInAddress)
        if (await isFresh(system, signedIn, ctx?.organization.id ?? null)) return
        const addressOf = (await hasFactor(system, signedIn.credential.id)) ? secondStepAddress : proveAddress
        return turnAway(system, request, reply, addressOf)
      },
    ]
  })
}

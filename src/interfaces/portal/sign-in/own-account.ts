import type { FastifyInstance } from 'fastify'
import type { ServiceContext } from '../../../domain/context.ts'
import { mayChangeAccount } from '../../../domain/single-sign-on/identities.ts'
import { show } from '../kit/layout.ts'
import { accountNotOwnedPage } from './linked.page.ts'

/** Routes that change or show account settings, which apply in all organizations. */
const ACCOUNT_ROUTES =
  /^(POST \/portal\/:organizationId\/account\/(name|password|sessions\/|identities\/)|(GET|POST) \/portal\/factors)/

/**
 * Refuses account settings to members who signed in through an organization's identity provider, see {@link mayChangeAccount}: one organization
 * must not change access to another. Runs after the organization's own access checks.
 */
export function guardAccountRoutes(app: FastifyInstance, system: ServiceContext): void {
  app.addHook('preHandler', async (request, reply) => {
    const { signedIn, method, routeOptions } = request
    if (signedIn && ACCOUNT_ROUTES.test(`${method} ${routeOptions.url}`) && !(await mayChangeAccount(system, signedIn)))
      return show(request, reply, accountNotOwnedPage, 403)
  })
}

import type { FastifyInstance } from 'fastify'
import type { ServiceContext } from '../../../domain/context.ts'
import { ownsAccount } from '../../../domain/single-sign-on/identities.ts'
import { show } from '../kit/layout.ts'
import { notOwnPage } from './linked.page.ts'

/** What is a person's own in all organizations: how it is changed, and seen where it is changed. */
const OWN = /^(POST \/portal\/:organizationId\/account\/(name|password|sessions\/|identities\/)|(GET|POST) \/portal\/factors)/

/**
 * Closes what is a person's own to whoever came by the word of an organization's identity provider, see {@link ownsAccount}: an organization is not to
 * change what opens another. Behind what each organization asks for: whom it does not let in is asked for that first.
 */
export function guardOwnAccount(app: FastifyInstance, system: ServiceContext): void {
  app.addHook('preHandler', async (request, reply) => {
    const { signedIn, method, routeOptions } = request
    if (signedIn && OWN.test(`${method} ${routeOptions.url}`) && !(await ownsAccount(system, signedIn)))
      return show(request, reply, notOwnPage, 403)
  })
}

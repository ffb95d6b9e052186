import type { FastifyInstance } from 'fastify'
import { ownsAccount } from '../../../domain/single-sign-on/identities.ts'
import { show } from '../kit/layout.ts'
import { notOwnPage } from './linked.page.ts'

/** What is a person's own in all organizations: how it is changed, and seen where it is changed. */
const OWN = /^(POST \/portal\/:organizationId\/account\/(name|password|sessions\/|identities\/)|(GET|POST) \/portal\/factors)/

/**
 * Closes what is a person's own to who came by the word of one organization's identity provider and belongs to others as well: an
 * organization is not to change what opens another. Behind what each organization asks for: whom it does not let in is asked for that first.
 */
export function guardOwnAccount(app: FastifyInstance): void {
  app.addHook('preHandler', async (request, reply) => {
    const { signedIn, method, routeOptions } = request
    if (signedIn && OWN.test(`${method} ${routeOptions.url}`) && !ownsAccount(signedIn))
      return show(request, reply, notOwnPage, 403)
  })
}

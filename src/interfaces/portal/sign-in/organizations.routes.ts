import type { FastifyInstance } from 'fastify'
import { homeOf, show } from '../kit/layout.ts'
import { organizationsPage } from './organizations.page.ts'
import { signInAddress } from './session.ts'
import type { Portal } from './settings.ts'

/** Redirects from the portal's root to the person's organization. */
export function organizationsRoutes(app: FastifyInstance, _portal: Portal): void {
  app.get('/', async (request, reply) => {
    const { signedIn } = request
    if (!signedIn) return reply.redirect(signInAddress(request.originalUrl), 303)
    const [only, ...otherMemberships] = signedIn.memberships
    if (only && otherMemberships.length === 0) return reply.redirect(homeOf(only.organization), 303)
    return show(request, reply, organizationsPage(signedIn.memberships))
  })
}

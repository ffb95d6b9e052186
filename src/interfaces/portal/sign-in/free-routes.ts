import type { FastifyInstance } from 'fastify'
import { PORTAL_PREFIX } from '../../../http/addresses/links.ts'

/** Routes below it pass {@link requireMember}, which checks access on each request. */
export const ORGANIZATION_PREFIX = '/:organizationId'

/** Routes without that check, needed to sign in or out. They show only the names of the person's own organizations. */
export const FREE_ROUTES: ReadonlySet<string> = new Set([
  'GET /',
  'GET /sign-in',
  'POST /sign-in',
  'POST /sign-in/passkey',
  'POST /sign-in/sso',
  'GET /sign-in/organization/:organizationId',
  'GET /sign-in/with/:providerId',
  'GET /sign-in/with/:providerId/initiate',
  'GET /sign-in/with/:providerId/callback',
  'POST /sign-in/with/:providerId/logout',
  'GET /sign-in/with/:providerId/left',
  'GET /join/:token/with/:providerId',
  'GET /second-step',
  'POST /second-step',
  'POST /second-step/passkey',
  'GET /prove',
  'GET /prove/with/:providerId',
  'POST /prove',
  'GET /resume/:formId',
  'GET /verify',
  'POST /verify',
  'GET /factors',
  'GET /factors/app',
  'POST /factors/app',
  'GET /factors/passkey',
  'POST /factors/passkey',
  'POST /factors/recovery-codes',
  'GET /factors/:factorId',
  'POST /factors/:factorId',
  'POST /factors/:factorId/remove',
  'POST /sign-out',
  'GET /join/:token',
  'POST /join/:token',
  'GET /forgot',
  'POST /forgot',
  'GET /reset/:token',
  'POST /reset/:token',
  'POST /reset/:token/browser',
])

/** Throws at startup if a route is neither below an organization nor listed here. */
export function refuseUnlistedRoutes(app: FastifyInstance): void {
  app.addHook('onRoute', ({ method, url }) => {
    const path = url.startsWith(PORTAL_PREFIX) ? url.slice(PORTAL_PREFIX.length) || '/' : url
    if (path.startsWith(`${ORGANIZATION_PREFIX}/`) || path === ORGANIZATION_PREFIX || path.startsWith('/assets/')) return
    for (const verb of [method].flat())
      if (!FREE_ROUTES.has(`${verb === 'HEAD' ? 'GET' : verb} ${path}`))
        throw new Error(`${verb} ${path} is neither closed nor free`)
  })
}

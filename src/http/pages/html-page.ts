import type { FastifyInstance } from 'fastify'

/** Nothing but our own inline styles, icon and forms: no scripts, no foreign resources, no framing by others. */
const contentSecurityPolicy = (formTargets: string[], framesOwn: boolean) =>
  [
    "default-src 'none'",
    ...(framesOwn ? ["frame-src 'self'"] : []),
    "style-src 'unsafe-inline'",
    "img-src 'self'",
    `form-action ${["'self'", ...formTargets].join(' ')}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

/**
 * Headers of the pages for people: not kept by caches, not found by search engines, their addresses not told to others.
 *
 * @param formTargets origins that a form's answer may lead to, besides our own.
 * @param framesOwn whether a page may hold other pages of the service.
 */
export const pageHeaders = ({ formTargets = [] as string[], framesOwn = false } = {}) => ({
  'content-security-policy': contentSecurityPolicy(formTargets, framesOwn),
  'cache-control': 'no-store',
  'x-robots-tag': 'noindex, nofollow',
  'referrer-policy': 'no-referrer',
})

/** Sends them with every answer of the scope. */
export function protectPages(app: FastifyInstance, options: Parameters<typeof pageHeaders>[0] = {}): void {
  const headers = pageHeaders(options)
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(headers)
  })
}

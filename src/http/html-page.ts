import type { FastifyInstance } from 'fastify'

/** Nothing but our own inline styles and forms: no scripts, no foreign resources, no framing. */
const contentSecurityPolicy = (formTargets: string[]) =>
  [
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    `form-action ${["'self'", ...formTargets].join(' ')}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

/**
 * Headers of the pages for people: not kept by caches, not found by search engines, their addresses not told to others.
 *
 * @param formTargets origins that a form's answer may lead to, besides our own.
 */
export const pageHeaders = ({ formTargets = [] as string[] } = {}) => ({
  'content-security-policy': contentSecurityPolicy(formTargets),
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

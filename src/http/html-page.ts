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
export function protectPages(app: FastifyInstance, { formTargets = [] as string[] } = {}): void {
  const headers = {
    'content-security-policy': contentSecurityPolicy(formTargets),
    'cache-control': 'no-store',
    'x-robots-tag': 'noindex, nofollow',
    'referrer-policy': 'no-referrer',
  }
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(headers)
  })
}

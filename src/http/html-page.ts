import type { FastifyInstance } from 'fastify'

/** Nothing but our own inline styles and forms: no scripts, no foreign resources, no framing. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

/** Headers of the pages for people: not kept by caches, not found by search engines, their addresses not told to others. */
export function protectPages(app: FastifyInstance): void {
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers({
      'content-security-policy': CONTENT_SECURITY_POLICY,
      'cache-control': 'no-store',
      'x-robots-tag': 'noindex, nofollow',
      'referrer-policy': 'no-referrer',
    })
  })
}

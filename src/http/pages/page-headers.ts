import type { FastifyInstance } from 'fastify'

/** No scripts, no resources of other origins, no framing by others. */
const contentSecurityPolicy = (loadsOwn: boolean) =>
  [
    "default-src 'none'",
    ...(loadsOwn ? ["frame-src 'self'", "style-src 'self'", "font-src 'self'"] : ["style-src 'unsafe-inline'"]),
    "img-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

/**
 * Headers of HTML pages: no caching, no indexing, no referrer.
 *
 * @param loadsOwn true if a page loads the service's stylesheet and fonts and may frame its pages; false if its style is inline.
 */
export const pageHeaders = ({ loadsOwn = false } = {}) => ({
  'content-security-policy': contentSecurityPolicy(loadsOwn),
  'cache-control': 'no-store',
  'x-robots-tag': 'noindex, nofollow',
  'referrer-policy': 'no-referrer',
})

/** Adds {@link pageHeaders} to all answers of the scope. */
export function protectPages(app: FastifyInstance, options: Parameters<typeof pageHeaders>[0] = {}): void {
  const headers = pageHeaders(options)
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(headers)
  })
}

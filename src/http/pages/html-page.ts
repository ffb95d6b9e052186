import type { FastifyInstance } from 'fastify'

/** No scripts, no foreign resources, no framing by others. */
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
 * Headers of the pages for people: not kept by caches, not found by search engines, their addresses not told to others.
 *
 * @param loadsOwn whether a page may load the service's stylesheet and fonts, and hold other pages of it; else its style stands in it.
 */
export const pageHeaders = ({ loadsOwn = false } = {}) => ({
  'content-security-policy': contentSecurityPolicy(loadsOwn),
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

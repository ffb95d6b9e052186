import type { FastifyInstance } from 'fastify'

/** A year. Not of hosts below, nor for browsers' own lists: what stands there is not ours to say. */
const HSTS = { 'strict-transport-security': 'max-age=31536000' }

/** What pages may not use of a device, but those that replace it. */
const PERMISSIONS_POLICY = permissionsPolicy([])

/** A policy by which a page may use of a device what is named, and nothing else that there is to ask a person for. */
export function permissionsPolicy(used: readonly string[]): string {
  const named = ['camera', 'microphone', 'display-capture', 'speaker-selection', 'geolocation', 'payment', 'usb']
  return named.map((feature) => `${feature}=${used.includes(feature) ? '(self)' : '()'}`).join(', ')
}

/** What OWASP's cheat sheet on HTTP headers asks for. Pages for people replace some of them. */
const HEADERS = {
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'origin-agent-cluster': '?1',
  'permissions-policy': PERMISSIONS_POLICY,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-dns-prefetch-control': 'off',
  'x-download-options': 'noopen',
  'x-frame-options': 'SAMEORIGIN',
  'x-permitted-cross-domain-policies': 'none',
  'x-xss-protection': '0',
}

/** Sends them with every answer. @param isHttps whether browsers reach the service by HTTPS, and are to do so from then on. */
export function sendSecurityHeaders(app: FastifyInstance, isHttps: boolean): void {
  const headers = isHttps ? { ...HEADERS, ...HSTS } : HEADERS
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers)
    done()
  })
}

import type { FastifyInstance } from 'fastify'

/** One year. Without includeSubDomains and preload: other hosts of the domain are the operator's decision. */
const HSTS = { 'strict-transport-security': 'max-age=31536000' }

/** Default; pages that use devices replace it. */
const PERMISSIONS_POLICY = permissionsPolicy([])

/** Value of `Permissions-Policy` that allows only the named features. */
export function permissionsPolicy(used: readonly string[]): string {
  const features = ['camera', 'microphone', 'display-capture', 'speaker-selection', 'geolocation', 'payment', 'usb']
  return features.map((feature) => `${feature}=${used.includes(feature) ? '(self)' : '()'}`).join(', ')
}

/** From OWASP's HTTP Headers Cheat Sheet. HTML pages replace some of them. */
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

/** Adds security headers to all answers. @param isHttps true adds HSTS. */
export function sendSecurityHeaders(app: FastifyInstance, isHttps: boolean): void {
  const headers = isHttps ? { ...HEADERS, ...HSTS } : HEADERS
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers)
    done()
  })
}

import { pageHeaders } from '../../../http/pages/page-headers.ts'

/**
 * Nothing but what the portal itself serves, and nothing inline. Unlike on the candidates' pages its own addresses may be told to itself:
 * with `no-referrer` browsers would hide from us, too, where a form comes from.
 */
export const portalHeaders = {
  ...pageHeaders(),
  'content-security-policy': [
    "default-src 'none'",
    ...['style-src', 'font-src', 'script-src', 'img-src', 'media-src', 'connect-src', 'frame-src', 'form-action'].map(
      (directive) => `${directive} 'self'`,
    ),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'same-origin',
}

import { pageHeaders } from '../../../http/pages/page-headers.ts'

/**
 * Allows only the portal's own files and nothing inline. Unlike on the candidates' pages, the referrer is sent within the portal: with
 * `no-referrer`, browsers would not tell us where a form comes from.
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

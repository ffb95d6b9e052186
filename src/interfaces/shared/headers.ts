import { pageHeaders } from '../../http/pages/page-headers.ts'

/** Allows only own files, nothing inline, and no scripts. Search engines must not index these pages, and browsers must not store them. */
export const sharedHeaders = {
  ...pageHeaders(),
  'content-security-policy': [
    "default-src 'none'",
    ...['style-src', 'font-src', 'img-src', 'media-src', 'form-action'].map((directive) => `${directive} 'self'`),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
}

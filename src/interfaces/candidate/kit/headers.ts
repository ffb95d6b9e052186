import { pageHeaders } from '../../../http/pages/page-headers.ts'
import { permissionsPolicy } from '../../../http/pages/security-headers.ts'

const OWN = ['style-src', 'font-src', 'script-src', 'img-src', 'connect-src'].map((directive) => `${directive} 'self'`)

/**
 * Content-Security-Policy: own files only, nothing inline; in addition media recorded here, and media that questions refer to.
 *
 * @param formTargets other origins that a form's response may redirect to.
 */
export const candidateHeaders = (formTargets: readonly string[] = []) => ({
  ...pageHeaders(),
  'permissions-policy': permissionsPolicy(['camera', 'microphone', 'display-capture', 'speaker-selection']),
  'content-security-policy': [
    "default-src 'none'",
    ...OWN,
    "media-src 'self' blob: https:",
    `form-action ${["'self'", ...formTargets].join(' ')}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
})

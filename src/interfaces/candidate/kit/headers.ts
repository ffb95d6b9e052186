import { pageHeaders } from '../../../http/pages/page-headers.ts'
import { permissionsPolicy } from '../../../http/pages/security-headers.ts'

const OWN = ['style-src', 'font-src', 'script-src', 'img-src', 'connect-src'].map((directive) => `${directive} 'self'`)

/**
 * Nothing but what these pages themselves serve, and nothing inline; besides, what is recorded here, and what an organization's questions
 * play from its own addresses.
 *
 * @param formTargets origins that a form's answer may lead to, besides our own.
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

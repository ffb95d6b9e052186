import type { FastifyRequest } from 'fastify'
import type { AtsSettings } from '../domain/ports/ats-settings.ts'
import { INVITATION_PATH, MEDIA_PATH, OPEN_PATH, SHARE_PATH, UNSUBSCRIBE_PATH } from '../http/addresses/links.ts'
import { DOCS_PREFIX } from '../http/docs/docs.ts'
import type { Envelope } from '../http/errors/envelope.ts'
import { alternateEnvelope } from '../interfaces/alternate/errors.ts'
import { KEY_HEADER as ALTERNATE_KEY_HEADER } from '../interfaces/alternate/index.ts'
import { ATS_PREFIX, atsEnvelopes } from '../interfaces/ats/index.ts'
import { candidateEnvelope } from '../interfaces/candidate/kit/errors.ts'
import { PLAYER_SESSIONS_PREFIX } from '../interfaces/candidate/session/player-sessions.ts'
import { MAIL_EVENTS_PREFIX } from '../interfaces/mail-events/index.ts'
import { MAILBOX_PREFIX } from '../interfaces/mailbox/access.ts'
import { MCP_PATH } from '../interfaces/mcp/index.ts'
import { portalEnvelope } from '../interfaces/portal/kit/errors.ts'
import { sharedEnvelope } from '../interfaces/shared/errors.ts'
import { v1Envelope } from '../interfaces/v1/errors.ts'
import { KEY_HEADER as V1_KEY_HEADER } from '../interfaces/v1/index.ts'
import type { Languages } from '../locales/languages.ts'

/** Path prefixes. The alternate interface's is a setting. */
export const PATHS = {
  v1: v1Envelope.prefix,
  candidate: INVITATION_PATH,
  unsubscribe: UNSUBSCRIBE_PATH,
  open: OPEN_PATH,
  portal: portalEnvelope.prefix,
  playerSessions: PLAYER_SESSIONS_PREFIX,
  media: MEDIA_PATH,
  shared: SHARE_PATH,
  docs: DOCS_PREFIX,
  mailbox: MAILBOX_PREFIX,
  ats: ATS_PREFIX,
  mailEvents: MAIL_EVENTS_PREFIX,
  mcp: MCP_PATH,
}

/** True if the alternate interface can't use the prefix. Several interfaces may share `/api`. */
export function isPrefixTaken(prefix: string): boolean {
  const { v1, ...otherPaths } = PATHS
  const takenPaths = [v1, ...Object.values(otherPaths).map((path) => path.match(/^\/[^/]+/)![0])]
  return takenPaths.some((path) => `${prefix}/`.startsWith(`${path}/`))
}

/** Chooses the error envelope by path prefix; v1's if the path belongs to no interface. */
export function createEnvelopeSelector(
  alternatePrefix: string,
  ats: AtsSettings,
  languages: Languages,
): (path: string) => Envelope {
  const candidates = candidateEnvelope(languages)
  const interfaceEnvelopes = [
    v1Envelope,
    candidates,
    { ...candidates, prefix: UNSUBSCRIBE_PATH },
    { ...candidates, prefix: OPEN_PATH },
    sharedEnvelope,
    portalEnvelope,
  ]
  const envelopes = [...interfaceEnvelopes, alternateEnvelope(alternatePrefix), ...atsEnvelopes(ats)]
  return (path) => envelopes.find(({ prefix }) => path.startsWith(`${prefix}/`)) ?? v1Envelope
}

/** Identifies a request's source for load shedding: its API key or its link's token, both unverified; undefined if it has neither. */
export function createSourceReader(alternatePrefix: string): (request: FastifyRequest) => string | undefined {
  const keyHeaders = { [PATHS.v1]: V1_KEY_HEADER, [alternatePrefix]: ALTERNATE_KEY_HEADER, [PATHS.ats]: 'authorization' }
  return ({ url, headers }) => {
    for (const [prefix, header] of Object.entries(keyHeaders))
      if (url.startsWith(`${prefix}/`)) return headers[header] === undefined ? undefined : `key ${headers[header]}`
    const path = [PATHS.candidate, PATHS.unsubscribe, PATHS.shared].find((prefix) => url.startsWith(`${prefix}/`))
    if (path === undefined) return undefined
    const [token] = url.slice(path.length + 1).split(/[/?]/, 1)
    return `link ${token}`
  }
}

import type { FastifyInstance } from 'fastify'
import { INVITATION_PATH, MEDIA_PATH, PORTAL_PREFIX, UNSUBSCRIBE_PATH } from './links.ts'

/** Paths of the pages that mails link to. */
const LINKED = [INVITATION_PATH, UNSUBSCRIBE_PATH, MEDIA_PATH, PORTAL_PREFIX]
/** An organization's home: the one linked path that ends with a slash. */
const HOME = new RegExp(`^${PORTAL_PREFIX}/(test/)?[^/]+/$`)
/** A page below one of these paths, without escapes. */
const LINK = /^(?:\/[\w.~-]+){2,}\/?$/
/** `..`, also escaped: an attack, not the end of a sentence. */
const PARENT_SEGMENT = /\/(?:\.|%2e){2}/i
/** More characters than a sentence puts behind a link. */
const MAX_TRIMMED = 5

/** Redirects links that a mail program has read too far, with the sentence's `.`, `)`, `>` or `,` or a slash behind them. */
export function trimLinks(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return
    const [path = '', ...query] = request.originalUrl.split('?')
    if (!LINKED.some((prefix) => path.startsWith(`${prefix}/`)) || PARENT_SEGMENT.test(path)) return
    const trimmed = trim(path)
    if (trimmed !== path && LINK.test(trimmed))
      return reply.header('cache-control', 'no-store').redirect([trimmed, ...query].join('?'))
  })
}

function trim(path: string): string {
  let rest = path
  for (let i = 0; i < MAX_TRIMMED && !HOME.test(rest); i++) {
    const end = /(?:[.)>,/]|%(?:2[9cef]|3e))$/i.exec(rest.slice(-3))?.[0] ?? ''
    rest = rest.slice(0, rest.length - end.length)
  }
  return rest
}

import type { FastifyInstance } from 'fastify'
import { INVITATION_PATH, MEDIA_PATH, OPEN_PATH, PORTAL_PREFIX, SHARE_PATH, UNSUBSCRIBE_PATH } from './links.ts'

/** Mails link to these paths. */
const LINKED = [INVITATION_PATH, UNSUBSCRIBE_PATH, OPEN_PATH, MEDIA_PATH, SHARE_PATH, PORTAL_PREFIX]
/** Home of an organization: the only linked path that ends with a slash. */
const HOME = new RegExp(`^${PORTAL_PREFIX}/(test/)?[^/]+/$`)
/** A page below one of these paths, without escapes. */
const LINK = /^(?:\/[\w.~-]+){2,}\/?$/
/** `..`, also escaped: path traversal, not the end of a sentence. */
const PARENT_SEGMENT = /\/(?:\.|%2e){2}/i
/** More characters than a sentence puts after a link. */
const MAX_TRIMMED = 5

/** Redirects links to which a mail program has added the `.`, `)`, `>`, `,`, or slash that follows them. */
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
  let trimmed = path
  for (let i = 0; i < MAX_TRIMMED && !HOME.test(trimmed); i++) {
    const end = /(?:[.)>,/]|%(?:2[9cef]|3e))$/i.exec(trimmed.slice(-3))?.[0] ?? ''
    trimmed = trimmed.slice(0, trimmed.length - end.length)
  }
  return trimmed
}

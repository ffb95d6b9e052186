import cookie from '@fastify/cookie'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  type Browser,
  contextOf,
  endSession,
  findSession,
  type NewSession,
  type SignedIn,
} from '../../../domain/access/sessions.ts'
import type { ServiceContext } from '../../../domain/context.ts'
import { clientOf } from '../../../http/addresses/client.ts'
import { PORTAL_PREFIX, showsTestData } from '../../../http/addresses/links.ts'
import { sessionCookie } from '../../../http/addresses/preview.ts'
import { onGone } from '../../../http/requests/on-gone.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is signed in; null when nobody is. Only in the portal. */
    signedIn: SignedIn | null
  }
  interface FastifyContextConfig {
    /** What a page asks by itself, whether or not anybody is there: it does not keep the session from ending. */
    isUnattended?: boolean
  }
}

/** The session's cookie, as the scope keeps it. */
export type SessionCookie = {
  /** Puts a new session into the browser, and ends the one that it had. */
  begin: (request: FastifyRequest, reply: FastifyReply, session: NewSession) => Promise<void>
  /** Signs the browser out. */
  end: (request: FastifyRequest, reply: FastifyReply) => Promise<void>
}

/**
 * Finds out for each request of the scope who is signed in.
 *
 * @param isSecure whether browsers reach the service by HTTPS: only then they take the name that no other host, and no page without
 *   encryption, can set.
 */
export async function useSessions(app: FastifyInstance, system: ServiceContext, isSecure: boolean): Promise<SessionCookie> {
  await app.register(cookie)
  const name = sessionCookie(isSecure)
  const options = { path: '/', httpOnly: true, sameSite: 'lax', secure: isSecure } as const
  const tokenOf = ({ cookies }: FastifyRequest) => cookies[name]
  app.decorateRequest('signedIn', null)
  app.addHook('onRequest', async (request) => {
    const token = tokenOf(request)
    const isUse = !request.routeOptions.config.isUnattended
    request.signedIn = token ? await findSession(system, token, { isUse }) : null
  })
  const forget = async (request: FastifyRequest) => {
    const token = tokenOf(request)
    if (token) await endSession(system, token)
  }
  return {
    async begin(request, reply, { token, expiresAt }) {
      await forget(request)
      reply.setCookie(name, token, { ...options, expires: expiresAt })
    },
    async end(request, reply) {
      await forget(request)
      reply.clearCookie(name, options)
    },
  }
}

/** Makes the scope, whose prefix ends in `:organizationId`, one for that organization's members; others are asked to sign in. */
export function requireMember(app: FastifyInstance, system: ServiceContext): void {
  app.addHook<{ Params: { organizationId: string } }>('onRequest', async (request, reply) => {
    if (!request.signedIn) return reply.redirect(signInAddress(request), 303)
    const mode = showsTestData(request.originalUrl) ? 'test' : 'live'
    const ctx = contextOf(system, request.signedIn, request.params.organizationId, mode)
    request.ctx = { ...ctx, onGone: onGone(reply) }
  })
}

/** Where to sign in; from there it goes on to what was asked for, if that can be asked for again. */
export const signInAddress = ({ method, originalUrl }: FastifyRequest): string =>
  `${PORTAL_PREFIX}/sign-in${method === 'GET' ? `?${new URLSearchParams({ next: originalUrl })}` : ''}`

/** The address to go on to after signing in: one of the portal's pages, whatever was given. */
export function safeNext(next: string): string {
  const url = URL.parse(next, 'http://portal')
  const isOurs =
    url?.origin === 'http://portal' && (url.pathname === PORTAL_PREFIX || url.pathname.startsWith(`${PORTAL_PREFIX}/`))
  return isOurs ? url.pathname + url.search : PORTAL_PREFIX
}

/** The browser of a request. */
export const browserOf = (request: FastifyRequest): Browser => ({
  userAgent: request.headers['user-agent'] ?? '',
  ...clientOf(request),
})

/** Whoever is signed in, in a scope that lets in nobody else. */
export function signedInOf({ signedIn }: FastifyRequest): SignedIn {
  if (!signedIn) throw new Error('This page is for those who are signed in')
  return signedIn
}

import type { FastifyReply, FastifyRequest } from 'fastify'
import { decryptOidcFlow, OIDC_FLOW_MS, type OidcFlow } from '../../../domain/single-sign-on/oidc-flow.ts'
import type { Portal } from './settings.ts'

type Named = Pick<Portal, 'system' | 'settings'>

/** Cookie with one OpenID Connect flow. Its name contains the state, so that two windows have two. */
const cookieOf = ({ settings: { publicUrl } }: Pick<Named, 'settings'>, state: string) => {
  const secure = publicUrl.startsWith('https:')
  return {
    name: `${secure ? '__Host-' : ''}sso-${state}`,
    options: { path: '/', httpOnly: true, sameSite: 'lax', secure } as const,
  }
}

export function setFlowCookie(portal: Named, reply: FastifyReply, { state, sealed }: { state: string; sealed: string }): void {
  const { name, options } = cookieOf(portal, state)
  reply.setCookie(name, sealed, { ...options, maxAge: OIDC_FLOW_MS / 1000 })
}

/** The flow that the callback belongs to, whose cookie is cleared; null if it began in another browser or expired. */
export function takeFlowCookie(
  portal: Named,
  request: FastifyRequest,
  reply: FastifyReply,
  callback: { state: string; providerId: string },
): OidcFlow | null {
  if (!/^[\w-]{1,50}$/.test(callback.state)) return null
  const { name, options } = cookieOf(portal, callback.state)
  const sealed = request.cookies[name]
  if (!sealed) return null
  reply.clearCookie(name, options)
  return decryptOidcFlow(portal.system, sealed, callback)
}

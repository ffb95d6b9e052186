import type { FastifyReply, FastifyRequest } from 'fastify'
import { openWay, WAY_MS, type Way } from '../../../domain/single-sign-on/way.ts'
import type { Portal } from './settings.ts'

type Named = Pick<Portal, 'system' | 'settings'>

/** A way to an identity provider and back, in a cookie that has its state in its name: two windows have two. */
const cookieOf = ({ settings: { publicUrl } }: Pick<Named, 'settings'>, state: string) => {
  const secure = publicUrl.startsWith('https:')
  return {
    name: `${secure ? '__Host-' : ''}sso-${state}`,
    options: { path: '/', httpOnly: true, sameSite: 'lax', secure } as const,
  }
}

export function keepWay(portal: Named, reply: FastifyReply, { state, sealed }: { state: string; sealed: string }): void {
  const { name, options } = cookieOf(portal, state)
  reply.setCookie(name, sealed, { ...options, maxAge: WAY_MS / 1000 })
}

/** The way that somebody comes back by, which is none any more; null: it began in another browser, or long ago. */
export function takeWay(
  portal: Named,
  request: FastifyRequest,
  reply: FastifyReply,
  came: { state: string; providerId: string },
): Way | null {
  if (!/^[\w-]{1,50}$/.test(came.state)) return null
  const { name, options } = cookieOf(portal, came.state)
  const sealed = request.cookies[name]
  if (!sealed) return null
  reply.clearCookie(name, options)
  return openWay(portal.system, sealed, came)
}

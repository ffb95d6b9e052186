import type { FastifyReply, FastifyRequest } from 'fastify'
import { openWaiting, SECOND_STEP_MS, sealWaiting, type Waiting, waitingOf } from '../../../domain/sign-in/second-step.ts'
import type { Entry } from '../../../domain/sign-in/sign-in.ts'
import { secondStepAddress } from './second-step.page.ts'
import { changeAddress } from './session.ts'
import type { Portal } from './settings.ts'

type Named = Pick<Portal, 'system' | 'settings'>

/** Between the password and the second factor, who has shown the one stands in a cookie, sealed. */
const cookieOf = ({ publicUrl }: { publicUrl: string }) => {
  const secure = publicUrl.startsWith('https:')
  return {
    name: secure ? '__Host-second-step' : 'second-step',
    options: { path: '/', httpOnly: true, sameSite: 'lax', secure } as const,
  }
}

/** Goes on after a right password, or another proof: once somebody is signed in, nobody waits in the browser any more. @returns the address: where the person was going, or where something else is asked for before. */
export async function goOn(
  portal: Portal,
  request: FastifyRequest,
  reply: FastifyReply,
  { entry, next }: { entry: Entry; next: string },
): Promise<string> {
  if ('session' in entry) {
    forgetWaiting(portal, request, reply)
    await portal.cookie.begin(request, reply, entry.session)
    return next
  }
  if ('mustChange' in entry) return changeAddress(entry)
  rememberWaiting(portal, reply, entry.waiting)
  return secondStepAddress(next)
}

function rememberWaiting({ system, settings }: Named, reply: FastifyReply, waiting: Parameters<typeof sealWaiting>[1]): void {
  const { name, options } = cookieOf(settings)
  reply.setCookie(name, sealWaiting(system, waiting), { ...options, maxAge: SECOND_STEP_MS / 1000 })
}

function forgetWaiting({ settings }: Named, { cookies }: FastifyRequest, reply: FastifyReply): void {
  const { name, options } = cookieOf(settings)
  if (name in cookies) reply.clearCookie(name, options)
}

/** Who is to show a second factor in this browser: after the password or, signed in already, because it is asked for now. */
export function findWaiting({ system, settings }: Named, { cookies, signedIn }: FastifyRequest): Waiting | null {
  const sealed = cookies[cookieOf(settings).name]
  return (sealed ? openWaiting(system, sealed) : null) ?? (signedIn && waitingOf(signedIn))
}

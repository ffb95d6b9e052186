import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  decryptSecondStep,
  encryptSecondStep,
  SECOND_STEP_MS,
  type SecondStepState,
  toSecondStepState,
} from '../../../domain/sign-in/second-step.ts'
import type { SignInOutcome } from '../../../domain/sign-in/sign-in.ts'
import { secondStepAddress } from './second-step.page.ts'
import { changePasswordAddress } from './session.ts'
import type { Portal } from './settings.ts'

type Named = Pick<Portal, 'system' | 'settings'>

/** Encrypted cookie with the password step's result, until the second factor is given. */
const cookieOf = ({ publicUrl }: { publicUrl: string }) => {
  const secure = publicUrl.startsWith('https:')
  return {
    name: secure ? '__Host-second-step' : 'second-step',
    options: { path: '/', httpOnly: true, sameSite: 'lax', secure } as const,
  }
}

/**
 * Continues after a correct password or another authentication, and clears the pending second step once the person is signed in.
 *
 * @returns the address to go on to: the requested one, or the next requirement.
 */
export async function continueSignIn(
  portal: Portal,
  request: FastifyRequest,
  reply: FastifyReply,
  { entry, next }: { entry: SignInOutcome; next: string },
): Promise<string> {
  if ('session' in entry) {
    clearPendingCookie(portal, request, reply)
    await portal.cookie.begin(request, reply, entry.session)
    return next
  }
  if ('mustChange' in entry) return changePasswordAddress(entry)
  setPendingCookie(portal, reply, entry.waiting)
  return secondStepAddress(next)
}

function setPendingCookie(
  { system, settings }: Named,
  reply: FastifyReply,
  waiting: Parameters<typeof encryptSecondStep>[1],
): void {
  const { name, options } = cookieOf(settings)
  reply.setCookie(name, encryptSecondStep(system, waiting), { ...options, maxAge: SECOND_STEP_MS / 1000 })
}

function clearPendingCookie({ settings }: Named, { cookies }: FastifyRequest, reply: FastifyReply): void {
  const { name, options } = cookieOf(settings)
  if (name in cookies) reply.clearCookie(name, options)
}

/** The person who still has to give a second factor in this browser: after the password, or signed in where one is required now. */
export function findPendingSecondStep(
  { system, settings }: Named,
  { cookies, signedIn }: FastifyRequest,
): SecondStepState | null {
  const sealed = cookies[cookieOf(settings).name]
  return (sealed ? decryptSecondStep(system, sealed) : null) ?? (signedIn && toSecondStepState(signedIn))
}

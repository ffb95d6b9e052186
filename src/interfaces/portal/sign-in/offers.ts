import { setTimeout as sleep } from 'node:timers/promises'
import type { ServiceContext } from '../../../domain/context.ts'
import { listOperatorProviders, type OfferedProvider } from '../../../domain/single-sign-on/find-providers.ts'
import { hasProviders } from '../../../domain/single-sign-on/providers.ts'

/** Longest wait for the database in milliseconds. */
const WAIT_MS = 300

/** Sign-in methods besides a password. @property hasSso true if any organization has its own provider. */
export type SignInOffers = { hasSso: boolean; offered: OfferedProvider[] }

/**
 * @returns a function that reads the current offers. If the database does not answer soon it returns the last known ones, so that the
 *   sign-in page stays available.
 */
export function signInOffers(system: ServiceContext): () => Promise<SignInOffers> {
  let hasSso = false
  const ask = async () => {
    hasSso = await hasProviders(system)
  }
  const fail = (err: unknown) => system.deps.log.warn({ err }, 'the sign-in methods could not be read')
  // One query at a time, however many requests wait for it.
  let pendingRead: Promise<void> | undefined
  return async () => {
    pendingRead ??= ask()
      .catch(fail)
      .finally(() => {
        pendingRead = undefined
      })
    await Promise.race([pendingRead, sleep(WAIT_MS, undefined, { ref: false })])
    return { hasSso, offered: listOperatorProviders(system) }
  }
}

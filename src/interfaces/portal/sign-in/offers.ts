import { setTimeout as sleep } from 'node:timers/promises'
import type { ServiceContext } from '../../../domain/context.ts'
import { listOfferedToAll, type OfferedProvider } from '../../../domain/single-sign-on/find-providers.ts'
import { hasProviders } from '../../../domain/single-sign-on/providers.ts'

/** For how long the sign-in page waits for the database. */
const WAIT_MS = 300

/** What there is to sign in by besides a password. @property hasSso whether any organization has a provider of its own. */
export type SignInOffers = { hasSso: boolean; offered: OfferedProvider[] }

/** @returns what is offered now; where the database does not say so soon, as it was known last: the page is there whoever holds the database up. */
export function signInOffers(system: ServiceContext): () => Promise<SignInOffers> {
  let hasSso = false
  const ask = async () => {
    hasSso = await hasProviders(system)
  }
  const fail = (err: unknown) => system.deps.log.warn({ err }, 'what is offered to sign in by could not be read')
  // However many look at the page meanwhile, the database is asked once: nobody waits for the answers that are late.
  let asked: Promise<void> | undefined
  return async () => {
    asked ??= ask()
      .catch(fail)
      .finally(() => {
        asked = undefined
      })
    await Promise.race([asked, sleep(WAIT_MS, undefined, { ref: false })])
    return { hasSso, offered: listOfferedToAll(system) }
  }
}

import { lookup, Resolver } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import type { Allowance } from '../domain/context.ts'
import { isAllowedHost, mayConnectTo } from '../domain/webhooks/targets.ts'

/** The addresses of a host. @throws Error when there are none. */
export type Resolve = (host: string) => Promise<string[]>

/** Milliseconds for one question to one name server, and how often it is asked. */
const QUESTION = { timeout: 3_000, tries: 2 }

/**
 * By the name servers alone. The system's own look-up (`dns.lookup`) shares four threads with all the process does: a few names whose
 * servers don't answer would hold up everybody else.
 */
export const resolvePublicName: Resolve = async (host) => {
  const resolver = new Resolver(QUESTION)
  const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  const addresses = [ipv4, ipv6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  if (addresses.length > 0) return addresses
  throw ipv4.status === 'rejected' ? ipv4.reason : new Error('The host has no address')
}

const resolveAllowedName: Resolve = async (host) => (await lookup(host, { all: true })).map(({ address }) => address)

/**
 * The look-up for a connection: each address is checked here, in the moment of connecting, and what was checked is what is connected to.
 * A name that led elsewhere a moment ago is of no use to anybody. Hosts that the operator has named may be known to the system only.
 */
export const guardedLookup =
  (allowance: Allowance, resolve: Resolve): LookupFunction =>
  (host, { all }, callback) => {
    const isAllowed = isAllowedHost(allowance, host)
    const find = isAllowed ? resolveAllowedName : resolve
    find(host)
      .then((addresses) => {
        if (!isAllowed && !addresses.every((address) => mayConnectTo(allowance, address))) throw new Error(NOT_PUBLIC)
        return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
      })
      .then(
        (found) => (all ? callback(null, found) : callback(null, found[0]!.address, found[0]!.family)),
        (error) => callback(error, ''),
      )
  }

export const NOT_PUBLIC = 'The host has an address that is not public'

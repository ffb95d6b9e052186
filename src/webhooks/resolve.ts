import { lookup, Resolver } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import type { Allowance } from '../domain/networks/allowance.ts'
import { isAllowedHost, mayConnectTo } from '../domain/webhooks/targets.ts'

/** Resolves a host. @throws Error if it has no addresses. */
export type Resolve = (host: string) => Promise<string[]>

/** Milliseconds per query and name server, and number of tries. */
const RESOLVER_OPTIONS = { timeout: 3_000, tries: 2 }

/** Asks name servers directly. `dns.lookup` shares four threads with the whole process: a few slow names would block everything else. */
export const resolvePublicName: Resolve = async (host) => {
  const resolver = new Resolver(RESOLVER_OPTIONS)
  const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  const addresses = [ipv4, ipv6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  if (addresses.length > 0) return addresses
  throw ipv4.status === 'rejected' ? ipv4.reason : new Error('The host has no address')
}

const resolveAllowedName: Resolve = async (host) => (await lookup(host, { all: true })).map(({ address }) => address)

/**
 * Lookup function for a connection. It checks every address at the time of connecting, so a name that changes its address gains nothing. Hosts
 * allowed by the operator use the system's resolver, e.g. for /etc/hosts.
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

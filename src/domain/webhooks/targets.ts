import ipaddr from 'ipaddr.js'
import type { TargetFault } from '../errors.ts'
import type { Allowance } from '../networks/allowance.ts'
import { isIpAddress, type Network, readNetwork } from '../networks/ip-networks.ts'

// Allowed addresses of webhooks. Organizations choose the addresses, so none may lead into the service's own network.

export const MAX_URL_LENGTH = 2_048

const HOST = /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/
/** Names of the local machine, RFC 6761. */
const THIS_MACHINE = /(^|\.)localhost\.?$/
/** All other IPv6 addresses are not on the public internet. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3')

/** Reads host names, addresses, and networks (CIDR), comma-separated. @returns the valid entries and the invalid ones. */
export function readAllowance(list: string): { allowance: Allowance; unreadable: string[] } {
  const hosts = new Set<string>()
  const networks: Network[] = []
  const unreadable: string[] = []
  for (const entry of list.split(',').map((item) => item.trim().toLowerCase())) {
    const network = readNetwork(withoutBrackets(entry))
    if (network) networks.push(network)
    else if (HOST.test(entry)) hosts.add(entry)
    else if (entry !== '') unreadable.push(entry)
  }
  return { allowance: { hosts, networks }, unreadable }
}

/** True if the operator allows this host. It may then resolve to any address. */
export function isAllowedHost({ hosts, networks }: Allowance, host: string): boolean {
  const name = withoutBrackets(host)
  return isIpAddress(name) ? isWithin(networks, name) : hosts.has(name)
}

/** True if the address is public or allowed by the operator. */
export function mayConnectTo({ networks }: Allowance, address: string): boolean {
  if (!isIpAddress(address)) return false
  if (isWithin(networks, address)) return true
  const ip = ipaddr.parse(address)
  // Private, local, reserved, and IPv4-mapped addresses are not `unicast`.
  return ip.range() === 'unicast' && (ip.kind() === 'ipv4' || ip.match(GLOBAL_IPV6))
}

/** Fault of an endpoint's URL that is visible without resolving its name. */
export function findTargetFault(allowance: Allowance, text: string): TargetFault | undefined {
  const url = URL.parse(text)
  if (!url?.hostname) return 'url'
  const allowed = isAllowedHost(allowance, url.hostname)
  const isOpen = allowed || isPublicHost(allowance, withoutBrackets(url.hostname))
  if (url.protocol === 'http:' && !allowed) return isOpen ? 'scheme' : 'host'
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'scheme'
  if (url.username || url.password) return 'credentials'
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  if (port !== 80 && port !== 443 && port < 1024) return 'port'
  return isOpen ? undefined : 'host'
}

const isPublicHost = (allowance: Allowance, host: string): boolean =>
  isIpAddress(host) ? mayConnectTo(allowance, host) : !THIS_MACHINE.test(host)

const withoutBrackets = (host: string): string => host.replace(/^\[(.*)\]$/, '$1')

/** Compares addresses of the same family only: an IPv4-mapped IPv6 address is not in an IPv4 network. */
function isWithin(networks: readonly Network[], address: string): boolean {
  const ip = ipaddr.parse(address)
  return networks.some(([network, bits]) => network.kind() === ip.kind() && ip.match(network, bits))
}

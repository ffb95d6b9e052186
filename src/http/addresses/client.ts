import { BlockList, isIPv4, isIPv6 } from 'node:net'
import type { FastifyRequest } from 'fastify'

/**
 * Who asks, as far as what they did before can be held against them.
 *
 * @property network an IPv4 address, or the part of an IPv6 one that a customer is given.
 * @property isShared whether it is that of a proxy which is not trusted: behind it may be anybody.
 * @property isInside whether it is a private or loopback address.
 */
export type Client = { network: string; isShared: boolean; isInside: boolean }

/** How many times as much a network may do that is a proxy's: it is more than one client's. */
export const SHARED_BY = 20

const FORWARDING_HEADERS = ['x-forwarded-for', 'forwarded', 'x-real-ip']
/** Where a proxy of our own stands: loopback, private and link-local addresses (RFC 1918, 4193, 3927, 4291). */
const OWN = new BlockList()
for (const [address, bits] of [
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
] as const)
  OWN.addSubnet(address, bits)
OWN.addAddress('::1', 'ipv6')
OWN.addSubnet('fc00::', 7, 'ipv6')
OWN.addSubnet('fe80::', 10, 'ipv6')
const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8)
LOOPBACK.addAddress('::1', 'ipv6')

export const clientOf = (request: FastifyRequest): Client => ({
  network: networkOf(request.ip ?? ''),
  isShared: untrustedProxyOf(request) !== undefined,
  isInside: isOwn((request.ip ?? '').replace(/^::ffff:/i, '')),
})

/**
 * The address of the proxy that the request came through, if it names a client that is not believed: a neighbour whom TRUST_PROXY does not
 * name. A stranger who sends such a header is no proxy.
 */
export function untrustedProxyOf({ headers, ips = [], socket }: FastifyRequest): string | undefined {
  if (!FORWARDING_HEADERS.some((name) => headers[name] !== undefined) || ips.length > 1) return undefined
  const peer = socket.remoteAddress ?? ''
  return isOwn(peer) ? peer : undefined
}

const isOwn = (address: string): boolean => contains(OWN, address)
const contains = (list: BlockList, address: string): boolean => list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')

/** The address that the connection comes from, whatever headers say: of this machine, of a private network, or of neither. */
export function peerOf({ socket }: FastifyRequest): 'loopback' | 'private' | 'public' {
  const address = socket.remoteAddress ?? ''
  if (contains(LOOPBACK, address)) return 'loopback'
  return isOwn(address) ? 'private' : 'public'
}

/** True if the host of an address, as URL.hostname has it, leads to the machine of whoever follows it. */
export const isLoopbackHost = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || (isIPv4(hostname) && contains(LOOPBACK, hostname))

/** What a proxy calls its client can be as long as a header. */
const MAX_NAME_LENGTH = 50

/**
 * Who can be held together: of IPv4 one address, since neighbours in a data centre are strangers; of IPv6 the first 64 bits, since that
 * much is given to one customer, who can take a new address for each request.
 */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped) return mapped[1]!
  if (!isIPv6(address)) return address.slice(0, MAX_NAME_LENGTH)
  const [head = [], tail = []] = address.split('::').map((part) => part.split(':').filter((group) => group !== ''))
  const groups = [...head, ...Array(Math.max(0, 8 - head.length - tail.length)).fill('0'), ...tail]
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16))
    .join(':')
}

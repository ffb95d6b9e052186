import { BlockList, isIPv4, isIPv6 } from 'node:net'
import type { FastifyRequest } from 'fastify'

/**
 * Client of a request, for limits.
 *
 * @property network an IPv4 address, or the first 64 bits of an IPv6 address.
 * @property isShared true for an untrusted proxy, which may stand for many clients.
 * @property isInside true for a private or loopback address.
 */
export type Client = { network: string; isShared: boolean; isInside: boolean }

/** Limits are multiplied by this for a shared network. */
export const SHARED_LIMIT_FACTOR = 20

const FORWARDING_HEADERS = ['x-forwarded-for', 'forwarded', 'x-real-ip']
/** Loopback, private, and link-local addresses (RFC 1918, 4193, 3927, 4291), where the operator's own proxies are. */
const INTERNAL = new BlockList()
for (const [address, bits] of [
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
] as const)
  INTERNAL.addSubnet(address, bits)
INTERNAL.addAddress('::1', 'ipv6')
INTERNAL.addSubnet('fc00::', 7, 'ipv6')
INTERNAL.addSubnet('fe80::', 10, 'ipv6')
const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8)
LOOPBACK.addAddress('::1', 'ipv6')

export const clientOf = (request: FastifyRequest): Client => ({
  network: networkOf(request.ip ?? ''),
  isShared: untrustedProxyOf(request) !== undefined,
  isInside: isInternal((request.ip ?? '').replace(/^::ffff:/i, '')),
})

/**
 * Address of an untrusted proxy: a peer with an internal address that sends forwarding headers, but is not named by TRUST_PROXY. A public peer
 * that sends such headers is no proxy.
 */
export function untrustedProxyOf({ headers, ips = [], socket }: FastifyRequest): string | undefined {
  if (!FORWARDING_HEADERS.some((name) => headers[name] !== undefined) || ips.length > 1) return undefined
  const peer = socket.remoteAddress ?? ''
  return isInternal(peer) ? peer : undefined
}

const isInternal = (address: string): boolean => contains(INTERNAL, address)
const contains = (list: BlockList, address: string): boolean => list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')

/** Kind of the connection's peer address, regardless of headers. */
export function peerNetworkOf({ socket }: FastifyRequest): 'loopback' | 'private' | 'public' {
  const address = socket.remoteAddress ?? ''
  if (contains(LOOPBACK, address)) return 'loopback'
  return isInternal(address) ? 'private' : 'public'
}

/** @param hostname as in URL.hostname. */
export const isLoopbackHost = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || (isIPv4(hostname) && contains(LOOPBACK, hostname))

/** A proxy may send any text as a client's address. */
const MAX_NAME_LENGTH = 50

/**
 * An IPv4 address counts by itself, because neighbors in a data center are strangers. An IPv6 address counts by its first 64 bits, because a
 * customer gets at least that many addresses.
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

import { BlockList, isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'

/** Names for networks in TRUST_PROXY: RFC 3927 and 4291, RFC 1918 and 4193. */
const NAMED_NETWORKS: Record<string, string[]> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
}

/** Reads TRUST_PROXY. @param setting true, false, or addresses, networks and their names, comma-separated. */
export function createIsTrustedProxy(setting: boolean | string): (address: string) => boolean {
  if (typeof setting === 'boolean') return () => setting
  const trusted = new BlockList()
  for (const item of setting.split(',').map((text) => text.trim()))
    for (const network of NAMED_NETWORKS[item] ?? [item]) {
      const [address = '', bits] = network.split('/')
      trusted.addSubnet(address, Number(bits ?? (isIP(address) === 4 ? 32 : 128)), familyOf(address))
    }
  return (address) => isIP(address) > 0 && trusted.check(address, familyOf(address))
}

const familyOf = (address: string) => (isIP(address) === 4 ? 'ipv4' : 'ipv6')

/**
 * What the outermost trusted proxy says in a header that each proxy on the way adds an element to, or sets. It is as many elements from the
 * end as there are trusted proxies, which X-Forwarded-For tells; what stands before it was sent by the client.
 *
 * @returns undefined without a trusted proxy, or where it says nothing.
 */
export function readForwarded(request: FastifyRequest, name: string): string | undefined {
  const { headers, ips = [], socket, server } = request
  const text = headers[name]?.toString()
  if (text === undefined || !server.addressing.isTrustedProxy(socket.remoteAddress ?? '')) return undefined
  const elements = text.split(',').map((element) => element.trim())
  const proxies = Math.max(1, ips.length - 1)
  return elements[Math.max(0, elements.length - proxies)]
}

import { BlockList, isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'

/** Names for networks in TRUST_PROXY: RFC 3927 and 4291, RFC 1918 and 4193. */
const NAMED_NETWORKS: Record<string, string[]> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
}

/** Parses TRUST_PROXY. @param setting true, false, or comma-separated addresses, networks, and network names. */
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
 * Value of a forwarding header that the outermost trusted proxy has set. Each proxy appends an element or replaces the header, so the value is
 * as many elements from the end as there are trusted proxies (by X-Forwarded-For). Earlier elements come from the client.
 *
 * @returns undefined without a trusted proxy or without the header.
 */
export function readForwarded(request: FastifyRequest, name: string): string | undefined {
  const { headers, ips = [], socket, server } = request
  const text = headers[name]?.toString()
  if (text === undefined || !server.addressing.isTrustedProxy(socket.remoteAddress ?? '')) return undefined
  const elements = text.split(',').map((element) => element.trim())
  const proxies = Math.max(1, ips.length - 1)
  return elements[Math.max(0, elements.length - proxies)]
}

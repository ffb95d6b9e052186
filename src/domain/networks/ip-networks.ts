import ipaddr from 'ipaddr.js'

/** A network of addresses, or one address. */
export type Network = ReturnType<typeof ipaddr.parseCIDR>

/** Only as URLs and resolvers write them: no octal, hexadecimal or shortened forms. */
export const isIpAddress = (text: string): boolean => ipaddr.IPv6.isValid(text) || ipaddr.IPv4.isValidFourPartDecimal(text)

/** The network that a text names, in CIDR or as one address; null when it names none. */
export function readNetwork(text: string): Network | null {
  // Requires full addresses: `10/8` would be parsed as 0.0.0.10/8, not 10.0.0.0/8.
  if (ipaddr.isValidCIDR(text) && isIpAddress(text.slice(0, text.lastIndexOf('/')))) return ipaddr.parseCIDR(text)
  if (!isIpAddress(text)) return null
  const ip = ipaddr.parse(text)
  return [ip, ip.kind() === 'ipv4' ? 32 : 128]
}

/** Prefix length of ::ffff:0:0/96, which maps IPv4 addresses to IPv6. */
const MAPPED_BITS = 96

/** True if the address is in one of the networks. Handles mapped IPv4 addresses. */
export function isWithin(networks: readonly Network[], address: string): boolean {
  if (!isIpAddress(address)) return false
  const ip = ipaddr.process(address)
  return networks.map(unmapIpv4).some(([network, bits]) => network.kind() === ip.kind() && ip.match(network, bits))
}

/** Converts an IPv4 network from its IPv4-mapped IPv6 form, which dual-stack sockets report. */
const unmapIpv4 = ([ip, bits]: Network): Network =>
  ip instanceof ipaddr.IPv6 && ip.isIPv4MappedAddress() && bits >= MAPPED_BITS
    ? [ip.toIPv4Address(), bits - MAPPED_BITS]
    : [ip, bits]

/** True for a network of all addresses. */
export const isEverywhere = (network: Network): boolean => unmapIpv4(network)[1] === 0

/** True if one of the networks contains the address, or if the list is empty. */
export const isAllowedFrom = (names: readonly string[], address: string): boolean =>
  names.length === 0 ||
  isWithin(
    names.map(readNetwork).filter((network) => network !== null),
    address,
  )

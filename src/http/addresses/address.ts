import type { FastifyRequest } from 'fastify'
import { HttpError } from '../errors/failure.ts'
import { isLoopbackHost } from './client.ts'
import { readForwarded } from './trusted-proxies.ts'

declare module 'fastify' {
  interface FastifyInstance {
    addressing: Addressing
  }
}

/**
 * How addresses in answers are made.
 *
 * @property site its publicUrl is read each time: with PORT=0 it is known only when the service listens.
 * @property knownHosts further names of the service.
 */
export type Addressing = {
  site: Readonly<{ publicUrl: string }>
  knownHosts: ReadonlySet<string>
  isTrustedProxy: (address: string) => boolean
}

/** A name, an IPv4 address or an IPv6 address in brackets; perhaps a port. */
const AUTHORITY = /^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:\d+)?$/
/** The schemes' own ports, which no address needs; a proxy that names one beside the other's scheme means its own inner port. */
const DEFAULT_PORTS = ['80', '443']

/**
 * Scheme, host and port by which the client reached the service; behind a trusted proxy, by which it reached the proxy. PUBLIC_URL where the
 * host is not known to be the service's.
 *
 * @throws HttpError malformed_request when Host is no address.
 */
export function requestOrigin(request: FastifyRequest): string {
  const { site, knownHosts } = request.server.addressing
  const scheme = readScheme(request)
  const forwardedHost = readForwarded(request, 'x-forwarded-host') ?? ''
  const host = isAuthority(scheme, forwardedHost) ? forwardedHost : (request.raw.headers.host ?? '')
  if (!isAuthority(scheme, host)) throw new HttpError('malformed_request')
  const { hostname, origin } = new URL(`${scheme}://${withForwardedPort(request, scheme, host)}`)
  const publicUrl = new URL(site.publicUrl)
  const isKnown = hostname === publicUrl.hostname || knownHosts.has(hostname) || isLoopbackHost(hostname)
  return isKnown ? origin : publicUrl.origin
}

function readScheme(request: FastifyRequest): string {
  const forwarded = readForwarded(request, 'x-forwarded-proto')?.toLowerCase() ?? ''
  return ['http', 'https'].includes(forwarded) ? forwarded : 'http' // the service itself speaks nothing else
}

const isAuthority = (scheme: string, text: string): boolean => AUTHORITY.test(text) && URL.canParse(`${scheme}://${text}`)

/** Some proxies name the port apart from the host. */
function withForwardedPort(request: FastifyRequest, scheme: string, host: string): string {
  const port = readForwarded(request, 'x-forwarded-port') ?? ''
  const isNamed = /:\d+$/.test(host)
  const authority = `${host}:${port}`
  return isNamed || DEFAULT_PORTS.includes(port) || !isAuthority(scheme, authority) ? host : authority
}

/** An address of this interface as the client would write it. */
export const absoluteUrl = (request: FastifyRequest, path: string): string => new URL(path, requestOrigin(request)).href

/**
 * The address of the request with one query parameter set anew (null: left out), the others kept and sorted by name.
 *
 * @returns makes it for each value. The query is put together apart from the URL, which would be read anew at each change.
 */
export function withParameter(request: FastifyRequest, name: string): (value: string | null) => string {
  const { origin, pathname, search } = new URL(request.url, requestOrigin(request))
  const query = new URLSearchParams(search)
  return (value) => {
    if (value === null) query.delete(name)
    else query.set(name, value)
    query.sort()
    return query.size === 0 ? origin + pathname : `${origin}${pathname}?${query}`
  }
}

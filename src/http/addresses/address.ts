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
 * Configuration for addresses in answers.
 *
 * @property site is read each time: with PORT=0 publicUrl is known only when the service listens.
 * @property knownHosts further host names of the service.
 */
export type Addressing = {
  site: Readonly<{ publicUrl: string }>
  knownHosts: ReadonlySet<string>
  isTrustedProxy: (address: string) => boolean
}

/** A name, an IPv4 address, or an IPv6 address in brackets; optionally a port. */
const AUTHORITY = /^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:\d+)?$/
/** Default ports of the schemes are omitted. A proxy that sends one with the other scheme means its inner port. */
const DEFAULT_PORTS = ['80', '443']

/**
 * Origin under which the client reached the service or its trusted proxy. PUBLIC_URL if the host is not one of the service's.
 *
 * @throws HttpError malformed_request if `Host` is invalid.
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
  return ['http', 'https'].includes(forwarded) ? forwarded : 'http' // the service itself has no TLS
}

const isAuthority = (scheme: string, text: string): boolean => AUTHORITY.test(text) && URL.canParse(`${scheme}://${text}`)

/** Some proxies send the port in `X-Forwarded-Port` only. */
function withForwardedPort(request: FastifyRequest, scheme: string, host: string): string {
  const port = readForwarded(request, 'x-forwarded-port') ?? ''
  const hasPort = /:\d+$/.test(host)
  const authority = `${host}:${port}`
  return hasPort || DEFAULT_PORTS.includes(port) || !isAuthority(scheme, authority) ? host : authority
}

/** Absolute address of a path, under the origin that the client used. */
export const absoluteUrl = (request: FastifyRequest, path: string): string => new URL(path, requestOrigin(request)).href

/**
 * Address of the request with one query parameter replaced, or removed by null. Parameters are sorted by name.
 *
 * @returns a function of the parameter's value. It edits the query apart from the URL, because each change of `url.searchParams` would
 *   serialize the whole URL.
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

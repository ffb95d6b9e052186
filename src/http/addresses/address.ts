import type { FastifyRequest } from 'fastify'
import { HttpError } from '../errors/failure.ts'

/** A name, an IPv4 address or an IPv6 address in brackets; perhaps a port. */
const AUTHORITY = /^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:\d+)?$/
/** The schemes' own ports, which no address needs; a proxy that names one beside the other's scheme means its own inner port. */
const DEFAULT_PORTS = ['80', '443']

/**
 * Scheme, host and port by which the client reached the service; behind a trusted proxy, by which it reached the proxy.
 *
 * @throws HttpError malformed_request when Host, or what the proxy says of it, is no address.
 */
export function requestOrigin(request: FastifyRequest): string {
  const origin = `${request.protocol}://${request.host}${forwardedPort(request)}`
  if (!/^https?$/.test(request.protocol) || !AUTHORITY.test(request.host) || !URL.canParse(origin))
    throw new HttpError('malformed_request')
  return origin
}

/** Some proxies name the port apart from the host. Believed of a trusted proxy, which also says for whom it asks. */
function forwardedPort({ headers, host, ips = [] }: FastifyRequest): string {
  const port = headers['x-forwarded-port']?.toString() ?? ''
  const isNamed = /:\d+$/.test(host)
  return ips.length > 1 && !isNamed && /^\d+$/.test(port) && !DEFAULT_PORTS.includes(port) ? `:${port}` : ''
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

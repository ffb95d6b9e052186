import type { FastifyRequest } from 'fastify'

/** Scheme, host and port by which the client reached the service; behind a trusted proxy, by which it reached the proxy. */
export const requestOrigin = (request: FastifyRequest): string => `${request.protocol}://${request.host}`

/** The address of the request with one query parameter set anew (null: left out), the others kept and sorted by name. */
export function withParameter(request: FastifyRequest, name: string, value: string | null): string {
  const url = new URL(request.url, requestOrigin(request))
  url.searchParams.delete(name)
  if (value !== null) url.searchParams.set(name, value)
  url.searchParams.sort()
  return url.href
}

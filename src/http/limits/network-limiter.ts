import type { FastifyRequest } from 'fastify'
import { clientOf, SHARED_BY } from '../addresses/client.ts'
import { createWindows } from './windows.ts'

/**
 * Counts requests by the network they come from: an IPv4 address or an IPv6 /64. One behind a proxy that is not trusted may be many clients'.
 *
 * @param limit requests of a network within a minute of the first.
 * @returns to be called for each request. @throws HttpError rate_limited, from what is returned.
 */
export function createNetworkLimiter(limit: number): (request: FastifyRequest) => void {
  const count = createWindows()
  return (request) => {
    const { network, isShared } = clientOf(request)
    count(`${isShared} ${network}`, isShared ? SHARED_BY * limit : limit)
  }
}

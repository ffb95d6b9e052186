import type { FastifyRequest } from 'fastify'
import { clientOf, SHARED_LIMIT_FACTOR } from '../addresses/client.ts'
import { createRequestCounter } from './request-counter.ts'

/**
 * Counts requests by network: an IPv4 address or an IPv6 /64. The address of an untrusted proxy stands for many clients, so it may send more.
 *
 * @param limit requests per network and minute. The minute begins with the first request.
 * @returns a function that counts one request. It throws HttpError rate_limited above the limit.
 */
export function createNetworkLimiter(limit: number): (request: FastifyRequest) => void {
  const count = createRequestCounter()
  return (request) => {
    const { network, isShared } = clientOf(request)
    count(`${isShared} ${network}`, isShared ? SHARED_LIMIT_FACTOR * limit : limit)
  }
}

import type { FastifyRequest } from 'fastify'
import { createNetworkLimiter } from './network-limiter.ts'
import { createRequestCounter } from './request-counter.ts'

/** Counts a page load of a candidate link. @throws HttpError rate_limited. */
export type PageLimiter = (request: FastifyRequest, inviteId: string) => void

/**
 * Limits page loads per candidate link and per network. A load that the link's limit refuses does not count for the network, because a test
 * center has one address for many candidates. Each process counts by itself.
 */
export function createPageLimiter({ perLink, perNetwork }: { perLink: number; perNetwork: number }): PageLimiter {
  const countLink = createRequestCounter()
  const countNetwork = createNetworkLimiter(perNetwork)
  return (request, inviteId) => {
    countLink(inviteId, perLink)
    countNetwork(request)
  }
}

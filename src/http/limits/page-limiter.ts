import type { FastifyRequest } from 'fastify'
import { createNetworkLimiter } from './network-limiter.ts'
import { createWindows } from './windows.ts'

/** Counts a page load of a link, by its invite. @throws HttpError rate_limited. */
export type PageLimiter = (request: FastifyRequest, inviteId: string) => void

/**
 * Limits how often the pages of candidate links are loaded: by each link, and by all links of a network. What a link is refused does not
 * count for its network, where others may sit: a test center has one address. Each process counts by itself.
 */
export function createPageLimiter({ perLink, perNetwork }: { perLink: number; perNetwork: number }): PageLimiter {
  const countLink = createWindows()
  const countNetwork = createNetworkLimiter(perNetwork)
  return (request, inviteId) => {
    countLink(inviteId, perLink)
    countNetwork(request)
  }
}

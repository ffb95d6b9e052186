import type { FastifyRequest } from 'fastify'
import { clientOf, SHARED_BY } from '../addresses/client.ts'
import { createWindows } from './windows.ts'

/**
 * Counts requests with an unknown key by the network they came from: who tries keys, or sends a wrong one again and again, is told to
 * wait. A good key is none of them, whoever else is behind the same address.
 *
 * @param limit unknown keys of a network within a minute of the first.
 * @returns to be called for each of them. @throws HttpError rate_limited, from what is returned.
 */
export function createUnknownKeyLimiter(limit: number): (request: FastifyRequest) => void {
  const count = createWindows()
  return (request) => {
    const { network, isShared } = clientOf(request)
    count(`${isShared} ${network}`, isShared ? SHARED_BY * limit : limit)
  }
}

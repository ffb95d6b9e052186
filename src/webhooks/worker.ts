import type { ServiceContext } from '../domain/context.ts'
import { handOver } from '../domain/webhooks/hand-over.ts'
import { takeDeliveries } from '../domain/webhooks/record-attempt.ts'
import { type Concurrency, createConcurrency } from './concurrency.ts'
import { deliver } from './deliver.ts'
import type { Post } from './post.ts'
import { type SendingWorker, sendDue } from './send-due.ts'

/**
 * Hands over events to the endpoints, and attempts the deliveries that this makes.
 *
 * @param atOnce deliveries to one endpoint at a time to begin with, see concurrency.ts.
 */
export function startWebhooks(system: ServiceContext, post: Post, atOnce: number): SendingWorker {
  const concurrency = createConcurrency(atOnce)
  return sendDue(system, {
    name: 'webhooks',
    handOver: () => handOver(system),
    async take(busy, room) {
      const { deliveries, forgotten } = await takeDeliveries(system, { busy: withLimits(busy, concurrency), atOnce, room })
      return { taken: deliveries, more: forgotten > 0 }
    },
    receiverOf: ({ endpoint }) => endpoint.id,
    attempt: (taken, stop) => deliver(system, post, taken, { stop, concurrency }),
  })
}

const withLimits = (busy: ReadonlyMap<string, number>, { of }: Concurrency) =>
  [...busy].map(([id, underWay]) => ({ id, underWay, limit: of(id) }))

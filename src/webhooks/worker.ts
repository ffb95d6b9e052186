import type { ServiceContext } from '../domain/context.ts'
import { handOver } from '../domain/webhooks/hand-over.ts'
import { findDueDeliveries, takeDeliveries } from '../domain/webhooks/record-attempt.ts'
import { createConcurrency } from './concurrency.ts'
import { deliver } from './deliver.ts'
import type { Post } from './post.ts'
import { type SendingWorker, sendDue } from './send-due.ts'

/** Deliveries at a time to an endpoint whose last answer was a failure. */
const AT_ONCE_FAILING = 1

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
    findDue: (most) => findDueDeliveries(system, most),
    limitOf: ({ receiverId, isFailing }) => (isFailing ? AT_ONCE_FAILING : concurrency.of(receiverId)),
    async take(granted) {
      const { deliveries, forgotten } = await takeDeliveries(system, granted)
      return { taken: deliveries, more: forgotten > 0 }
    },
    receiverOf: ({ endpoint }) => endpoint.id,
    attempt: (taken, stop) => deliver(system, post, taken, { stop, concurrency }),
  })
}

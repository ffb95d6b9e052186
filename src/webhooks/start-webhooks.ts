import type { ServiceContext } from '../domain/context.ts'
import { findDueDeliveries, leaseDeliveries } from '../domain/webhooks/delivery-attempts.ts'
import { enqueueDeliveries } from '../domain/webhooks/enqueue-deliveries.ts'
import { createConcurrency } from './concurrency.ts'
import { deliver } from './deliver.ts'
import type { Post } from './post.ts'
import { type SendingWorker, startSendingWorker } from './sending-worker.ts'

/** Concurrent deliveries to a failing endpoint. */
const FAILING_CONCURRENCY = 1

/** @param initialConcurrency initial concurrency per endpoint, see concurrency.ts. */
export function startWebhooks(system: ServiceContext, post: Post, initialConcurrency: number): SendingWorker {
  const concurrency = createConcurrency(initialConcurrency)
  return startSendingWorker(system, {
    name: 'webhooks',
    createSendings: () => enqueueDeliveries(system),
    findDue: (most) => findDueDeliveries(system, most),
    limitOf: ({ receiverId, isFailing }) => (isFailing ? FAILING_CONCURRENCY : concurrency.of(receiverId)),
    async claim(granted) {
      const { deliveries, forgotten } = await leaseDeliveries(system, granted)
      return { taken: deliveries, more: forgotten > 0 }
    },
    receiverOf: ({ endpoint }) => endpoint.id,
    attempt: (taken, stop) => deliver(system, post, taken, { stop, concurrency }),
  })
}

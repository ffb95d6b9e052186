import type { ServiceContext } from '../domain/context.ts'
import { handOver } from '../domain/webhooks/hand-over.ts'
import { findDueDeliveries, takeDeliveries } from '../domain/webhooks/record-attempt.ts'
import { createConcurrency } from './concurrency.ts'
import { deliver } from './deliver.ts'
import type { Post } from './post.ts'
import { type SendingWorker, sendDue } from './sending-worker.ts'

/** Concurrent deliveries to a failing endpoint. */
const AT_ONCE_FAILING = 1

/** @param atOnce initial concurrency per endpoint, see concurrency.ts. */
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

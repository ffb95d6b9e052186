import type { ServiceContext } from '../domain/context.ts'
import { handOver } from '../domain/webhooks/hand-over.ts'
import { takeDeliveries } from '../domain/webhooks/record-attempt.ts'
import { deliver } from './deliver.ts'
import type { Post } from './post.ts'
import { type SendingWorker, sendDue } from './send-due.ts'

/** Hands over events to the endpoints, and attempts the deliveries that this makes. */
export const startWebhooks = (system: ServiceContext, post: Post): SendingWorker =>
  sendDue(system, {
    name: 'webhooks',
    handOver: () => handOver(system),
    async take(busy, room) {
      const { deliveries, forgotten } = await takeDeliveries(system, busy, room)
      return { taken: deliveries, more: forgotten > 0 }
    },
    receiverOf: ({ endpoint }) => endpoint.id,
    attempt: (taken, stop) => deliver(system, post, taken, stop),
  })

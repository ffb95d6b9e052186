import type { FastifyInstance, FastifyRequest } from 'fastify'
import { getEndpoint } from '../../../domain/webhooks/change-endpoint.ts'
import { DELIVERY_STATES, getDelivery, listDeliveries, replayDelivery } from '../../../domain/webhooks/deliveries.ts'
import { emptyForm, type Form } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { submitOnce } from '../kit/once.ts'
import { queryOf, readList } from '../kit/paging.ts'
import { deliveriesPage, deliveryPage } from './webhook-deliveries.page.ts'
import type { WebhookRoute } from './webhooks.routes.ts'

type DeliveryRoute = { Params: { webhookId: string; deliveryId: string } }

/** Seconds between reloads while an attempt is due. */
const REFRESH = '3'

export function webhookDeliveriesRoutes(app: FastifyInstance): void {
  app.get<WebhookRoute>('/settings/webhooks/:webhookId/deliveries', async (request, reply) => {
    const { ctx, params } = request
    const state = DELIVERY_STATES.find((known) => known === queryOf(request).get('state'))
    const endpoint = await getEndpoint(ctx, params.webhookId)
    const newest = { field: 'queuedAt', direction: 'desc' } as const
    const { form, list } = await readList(request, (page) =>
      listDeliveries(ctx, endpoint.id, state ? { state } : {}, newest, page),
    )
    return show(request, reply, deliveriesPage(form, { ctx, endpoint, list }))
  })

  app.get<DeliveryRoute>('/settings/webhooks/:webhookId/deliveries/:deliveryId', async (request, reply) => {
    const facts = await readDelivery(request)
    const { endpoint, delivery } = facts
    // Reloads only if an attempt is due now: the next retry may be hours away.
    const isDue = delivery.state === 'waiting' && delivery.nextAttemptAt <= request.ctx.deps.clock()
    if (isDue && endpoint.state === 'active') reply.header('refresh', REFRESH)
    return show(request, reply, deliveryPage(emptyForm, facts))
  })

  app.post<DeliveryRoute>('/settings/webhooks/:webhookId/deliveries/:deliveryId/replay', (request, reply) =>
    submitOnce(request, reply, {
      page: async (form: Form) => deliveryPage(form, await readDelivery(request)),
      async work(ctx) {
        const { webhookId, deliveryId } = request.params
        await replayDelivery(ctx, webhookId, deliveryId)
        return pathOf(ctx, `settings/webhooks/${webhookId}/deliveries/${deliveryId}`)
      },
    }),
  )
}

async function readDelivery({ ctx, params }: FastifyRequest<DeliveryRoute>) {
  const endpoint = await getEndpoint(ctx, params.webhookId)
  return { ctx, endpoint, delivery: await getDelivery(ctx, endpoint.id, params.deliveryId) }
}

import { Type } from '@sinclair/typebox'
import { getDelivery, listDeliveries, replayDelivery, replayFrom, sendTestEvent } from '../../domain/webhooks/deliveries.ts'
import { answerIdempotently, IdempotencyHeaders } from '../../http/requests/idempotency.ts'
import type { TypedApp } from '../../http/requests/typed-app.ts'
import { answerList, ListOf, ListQuery, toOrder, toPage } from './list.ts'
import {
  DeliveryState,
  DeliveryView,
  OneDelivery,
  presentDelivery,
  presentDeliveryDetail,
  ReplayedDelivery,
} from './webhook-deliveries.view.ts'
import { webhookParams } from './webhooks.routes.ts'
import { presentWebhook, ReplayBody, ReplayedWebhook, TestBody } from './webhooks.view.ts'

const sortWords = { queued_at: 'queuedAt' } as const
const params = Type.Object({
  ...webhookParams.properties,
  deliveryId: Type.String({ format: 'uuid', description: 'Id of the delivery, which is that of its event' }),
})
const filters = { state: Type.Optional({ ...DeliveryState, description: 'Only deliveries in this state' }) }
const tags = ['Webhooks']

/** Beyond v1.md: lists deliveries to a webhook, and sends events again. */
export function webhookDeliveryRoutes(app: TypedApp): void {
  deliveryRoutes(app)
  sendingRoutes(app)
}

function deliveryRoutes(app: TypedApp): void {
  app.get(
    '/webhooks/:webhookId/deliveries',
    {
      schema: {
        tags,
        operationId: 'listWebhookDeliveries',
        scope: 'webhooks:manage',
        summary: "List a webhook's deliveries",
        description: 'Of the last 30 days, newest first unless sorted otherwise.',
        params: webhookParams,
        querystring: ListQuery(sortWords, filters),
        response: { 200: ListOf('deliveries', DeliveryView) },
        errors: ['webhook_not_found'],
      },
    },
    async (request, reply) => {
      const { ctx, params, query } = request
      const filter = query.state === undefined ? {} : { state: query.state }
      const list = await listDeliveries(ctx, params.webhookId, filter, toOrder(sortWords, query), toPage(query))
      return answerList(request, reply, 'deliveries', list, presentDelivery)
    },
  )

  app.get(
    '/webhooks/:webhookId/deliveries/:deliveryId',
    {
      schema: {
        tags,
        operationId: 'getWebhookDelivery',
        scope: 'webhooks:manage',
        summary: 'Get a delivery',
        description: 'One delivery with each attempt and the endpoint’s answer.',
        params,
        response: { 200: OneDelivery },
        hasEtag: true,
        errors: ['webhook_not_found', 'delivery_not_found'],
      },
    },
    async ({ ctx, params }) => ({
      delivery: presentDeliveryDetail(await getDelivery(ctx, params.webhookId, params.deliveryId)),
    }),
  )
}

/** Sends events again, or a test event. */
function sendingRoutes(app: TypedApp): void {
  app.post(
    '/webhooks/:webhookId/deliveries/:deliveryId/replay',
    {
      schema: {
        tags,
        operationId: 'replayWebhookDelivery',
        scope: 'webhooks:manage',
        summary: 'Send an event again',
        description: 'Sends the event again at once, with all retries, in any state.',
        params,
        headers: IdempotencyHeaders,
        response: { 200: ReplayedDelivery },
        errors: ['webhook_not_found', 'delivery_not_found', 'webhook_disabled'],
      },
    },
    async (request, reply) =>
      answerIdempotently(request, reply, async (ctx) => {
        const { webhookId, deliveryId } = request.params
        return { status: 200, body: { delivery: presentDeliveryDetail(await replayDelivery(ctx, webhookId, deliveryId)) } }
      }),
  )

  app.post(
    '/webhooks/:webhookId/replay',
    {
      schema: {
        tags,
        operationId: 'replayWebhook',
        scope: 'webhooks:manage',
        summary: 'Send all events after a cursor again',
        description:
          'Sends all events after a cursor that match the webhook’s types and mode again, delivered or not. `replayedUpTo` of the webhook shows the progress. A replay in progress is merged with the new one.',
        params: webhookParams,
        headers: IdempotencyHeaders,
        body: ReplayBody,
        response: { 200: ReplayedWebhook },
        errors: ['webhook_not_found', 'webhook_disabled', 'cursor_gone'],
      },
    },
    async (request, reply) =>
      answerIdempotently(request, reply, async (ctx) => {
        const position = BigInt(request.body.fromCursor)
        return { status: 200, body: { webhook: presentWebhook(await replayFrom(ctx, request.params.webhookId, position)) } }
      }),
  )

  app.post(
    '/webhooks/:webhookId/test',
    {
      schema: {
        tags,
        operationId: 'testWebhook',
        scope: 'webhooks:manage',
        summary: 'Send a test event',
        description:
          'Sends an event of the type in the body, or of the type webhook.test, to this webhook only, regardless of its types. The message has the header `webhook-test: true` and is not in the feed. The delivery has the type webhook.test.',
        params: webhookParams,
        headers: IdempotencyHeaders,
        body: TestBody,
        response: { 201: OneDelivery },
        errors: ['webhook_not_found', 'webhook_disabled'],
      },
    },
    async (request, reply) =>
      answerIdempotently(
        request,
        reply,
        async (ctx) => ({
          status: 201,
          body: { delivery: presentDeliveryDetail(await sendTestEvent(ctx, request.params.webhookId, request.body.type)) },
        }),
        ({ delivery }) => `${app.prefix}/webhooks/${request.params.webhookId}/deliveries/${delivery.id}`,
      ),
  )
}

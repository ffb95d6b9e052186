import { Type } from '@sinclair/typebox'
import type { WebhookEndpoint } from '../../domain/webhooks/change-endpoint.ts'
import { getEndpoint } from '../../domain/webhooks/change-endpoint.ts'
import { createEndpoint, deleteEndpoint, listEndpoints, updateEndpoint } from '../../domain/webhooks/endpoints.ts'
import { rotateSecret } from '../../domain/webhooks/secrets.ts'
import { answerIdempotently, IdempotencyHeaders } from '../../http/requests/idempotency.ts'
import type { TypedApp } from '../../http/requests/typed-app.ts'
import { answerList, ListOf, ListQuery, toOrder, toPage } from './list.ts'
import {
  NewWebhookBody,
  OneWebhook,
  presentWebhook,
  RotationBody,
  toNewWebhook,
  toWebhookChange,
  WebhookChangeBody,
  WebhookView,
  WebhookWithSecret,
} from './webhooks.view.ts'

const sortWords = { created_at: 'createdAt', updated_at: 'updatedAt' } as const
export const webhookParams = Type.Object({ webhookId: Type.String({ format: 'uuid', description: 'Id of the webhook' }) })
const tags = ['Webhooks']
const params = webhookParams

/** Response with a secret, which is shown only once. */
async function answerSecret(status: number, creation: Promise<{ endpoint: WebhookEndpoint; secret: string }>) {
  const { endpoint, secret } = await creation
  return { status, body: { webhook: presentWebhook(endpoint), secret }, isSecret: true }
}

/** Beyond v1.md: addresses that receive an organization's events. */
export function webhookRoutes(app: TypedApp): void {
  webhookListRoutes(app)
  secretRoutes(app)
  oneWebhookRoutes(app)
}

function webhookListRoutes(app: TypedApp): void {
  app.get(
    '/webhooks',
    {
      schema: {
        tags,
        operationId: 'listWebhooks',
        scope: 'webhooks:manage',
        summary: 'List webhooks',
        description: 'Newest first unless sorted otherwise.',
        querystring: ListQuery(sortWords, {}),
        response: { 200: ListOf('webhooks', WebhookView) },
      },
    },
    async (request, reply) => {
      const { ctx, query } = request
      return answerList(
        request,
        reply,
        'webhooks',
        await listEndpoints(ctx, toOrder(sortWords, query), toPage(query)),
        presentWebhook,
      )
    },
  )

  app.post(
    '/webhooks',
    {
      schema: {
        tags,
        operationId: 'createWebhook',
        scope: 'webhooks:manage',
        summary: 'Create a webhook',
        description:
          'Creates a webhook, which receives every event from now on by POST, signed by Standard Webhooks. The answer shows the secret, this once only.',
        headers: IdempotencyHeaders,
        body: NewWebhookBody,
        response: { 201: WebhookWithSecret },
        errors: ['too_many_webhooks'],
      },
    },
    async (request, reply) =>
      answerIdempotently(
        request,
        reply,
        (ctx) => answerSecret(201, createEndpoint(ctx, toNewWebhook(request.body))),
        ({ webhook }) => `${app.prefix}/webhooks/${webhook.id}`,
      ),
  )
}

/** Rotates the secret. */
function secretRoutes(app: TypedApp): void {
  app.post(
    '/webhooks/:webhookId/rotate-secret',
    {
      schema: {
        tags,
        operationId: 'rotateWebhookSecret',
        scope: 'webhooks:manage',
        summary: 'Give a webhook a new secret',
        description:
          'Creates a new secret. For 24 hours messages are also signed with the previous one, and another rotation is refused unless it is forced. The answer shows the new secret, this once only.',
        params,
        headers: IdempotencyHeaders,
        body: RotationBody,
        response: { 200: WebhookWithSecret },
        errors: ['webhook_not_found', 'secret_rotated'],
      },
    },
    async (request, reply) =>
      answerIdempotently(request, reply, (ctx) => answerSecret(200, rotateSecret(ctx, request.params.webhookId, request.body))),
  )
}

/** Reads, changes, and deletes a webhook. */
function oneWebhookRoutes(app: TypedApp): void {
  app.get(
    '/webhooks/:webhookId',
    {
      schema: {
        tags,
        operationId: 'getWebhook',
        scope: 'webhooks:manage',
        summary: 'Get a webhook',
        description: 'Without its secret.',
        params,
        response: { 200: OneWebhook },
        hasEtag: true,
        errors: ['webhook_not_found'],
      },
    },
    async ({ ctx, params }) => ({ webhook: presentWebhook(await getEndpoint(ctx, params.webhookId)) }),
  )

  app.patch(
    '/webhooks/:webhookId',
    {
      schema: {
        tags,
        operationId: 'updateWebhook',
        scope: 'webhooks:manage',
        summary: 'Change a webhook, or disable or enable it',
        description:
          'At least one of url, types, mode, description, state is required. A disabled webhook receives nothing; waiting deliveries are sent when it is enabled again.',
        params,
        body: WebhookChangeBody,
        response: { 200: OneWebhook },
        errors: ['webhook_not_found'],
      },
    },
    async ({ ctx, params, body }) => ({
      webhook: presentWebhook(await updateEndpoint(ctx, params.webhookId, toWebhookChange(body))),
    }),
  )

  app.delete(
    '/webhooks/:webhookId',
    {
      schema: {
        tags,
        operationId: 'deleteWebhook',
        scope: 'webhooks:manage',
        summary: 'Delete a webhook',
        description: 'Deletes the webhook permanently, with its deliveries. Returns the deleted webhook.',
        params,
        response: { 200: OneWebhook },
        errors: ['webhook_not_found'],
      },
    },
    async ({ ctx, params }) => ({ webhook: presentWebhook(await deleteEndpoint(ctx, params.webhookId)) }),
  )
}

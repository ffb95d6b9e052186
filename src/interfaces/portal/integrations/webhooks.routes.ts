import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { modeOf } from '../../../domain/authorization/author.ts'
import type { Context } from '../../../domain/context.ts'
import { EVENT_TYPES } from '../../../domain/events/event.ts'
import { throwIfIssues } from '../../../domain/validation/throw-if-issues.ts'
import { getEndpoint } from '../../../domain/webhooks/change-endpoint.ts'
import { countLastDeliveries, listDeliveries, replayFrom, sendTestEvent } from '../../../domain/webhooks/deliveries.ts'
import {
  createEndpoint,
  deleteEndpoint,
  listEndpoints,
  MAX_ENDPOINTS,
  updateEndpoint,
  WEBHOOK_MODES,
} from '../../../domain/webhooks/endpoints.ts'
import { rotateSecret } from '../../../domain/webhooks/secrets.ts'
import { emptyForm, type Form, findSeen, readFields, submit } from '../kit/forms.ts'
import { type Page, pathOf, show } from '../kit/layout.ts'
import { submitOnce } from '../kit/once.ts'
import { queryOf } from '../kit/paging.ts'
import { RECENT_AUTHENTICATION } from '../kit/recent-authentication.ts'
import { webhookPage } from './webhook.page.ts'
import { secretPage, webhooksPage } from './webhooks.page.ts'

export type WebhookRoute = { Params: { webhookId: string } }

/** Number of deliveries on the page of a webhook. */
const LATEST = 5

export function webhooksRoutes(app: FastifyInstance): void {
  app.get('/settings/webhooks', async (request, reply) => show(request, reply, await listPage(request, emptyForm)))

  app.post('/settings/webhooks', RECENT_AUTHENTICATION, (request, reply) =>
    submitOnce(request, reply, {
      page: (form) => listPage(request, form),
      work: async (ctx, values) => secretPage(ctx, await createEndpoint(ctx, readWebhook(ctx, values))),
    }),
  )

  app.get<WebhookRoute>('/settings/webhooks/:webhookId', async (request, reply) =>
    show(request, reply, await onePage(request, emptyForm)),
  )

  type Request = FastifyRequest<WebhookRoute>
  const answer = (request: Request, reply: FastifyReply, work: (id: string, values: URLSearchParams) => Promise<string | Page>) =>
    submit(request, reply, {
      page: (form) => onePage(request, form),
      work: (values) => work(request.params.webhookId, values),
    })
  const addressOf = ({ ctx, params }: Request, done: string) =>
    `${pathOf(ctx, `settings/webhooks/${params.webhookId}`)}?done=${done}`

  app.post<WebhookRoute>('/settings/webhooks/:webhookId', RECENT_AUTHENTICATION, (request, reply) =>
    answer(request, reply, async (id, values) => {
      await updateEndpoint(request.ctx, id, readWebhook(request.ctx, values), findSeen(values))
      return addressOf(request, 'saved')
    }),
  )

  for (const [action, state] of [
    ['enable', 'active'],
    ['disable', 'disabled'],
  ] as const)
    app.post<WebhookRoute>(`/settings/webhooks/:webhookId/${action}`, (request, reply) =>
      answer(request, reply, async (id) => {
        await updateEndpoint(request.ctx, id, { state })
        return addressOf(request, `${action}d`)
      }),
    )

  app.post<WebhookRoute>('/settings/webhooks/:webhookId/replay', (request, reply) =>
    answer(request, reply, async (id) => {
      const { missedFrom } = await getEndpoint(request.ctx, id)
      // Null means that another request has started the replay.
      if (missedFrom !== null) await replayFrom(request.ctx, id, missedFrom)
      return addressOf(request, 'replayed')
    }),
  )

  app.post<WebhookRoute>('/settings/webhooks/:webhookId/rotate-secret', RECENT_AUTHENTICATION, (request, reply) =>
    submitOnce(request, reply, {
      page: (form) => onePage(request, form),
      work: async (ctx, values) =>
        secretPage(ctx, await rotateSecret(ctx, request.params.webhookId, { force: values.get('force') === 'yes' })),
    }),
  )

  app.post<WebhookRoute>('/settings/webhooks/:webhookId/test', (request, reply) =>
    submitOnce(request, reply, {
      page: (form) => onePage(request, form),
      async work(ctx) {
        const { webhookId } = request.params
        const { eventId } = await sendTestEvent(ctx, webhookId)
        return pathOf(ctx, `settings/webhooks/${webhookId}/deliveries/${eventId}`)
      },
    }),
  )

  app.post<WebhookRoute>('/settings/webhooks/:webhookId/delete', (request, reply) =>
    answer(request, reply, async (id) => {
      await deleteEndpoint(request.ctx, id)
      return `${pathOf(request.ctx, 'settings/webhooks')}?done=deleted`
    }),
  )
}

async function listPage(request: FastifyRequest, form: Form) {
  const { ctx } = request
  const firstPage = { number: 1, size: MAX_ENDPOINTS }
  const { items } = await listEndpoints(ctx, { field: 'createdAt', direction: 'asc' }, firstPage)
  const done = queryOf(request).get('done') ?? ''
  return webhooksPage(form, { ctx, endpoints: items, counts: await countLastDeliveries(ctx), done })
}

async function onePage(request: FastifyRequest<WebhookRoute>, form: Form) {
  const { ctx, params } = request
  const endpoint = await getEndpoint(ctx, params.webhookId)
  const counts = (await countLastDeliveries(ctx)).get(endpoint.id)
  const newest = { field: 'queuedAt', direction: 'desc' } as const
  const deliveries = await listDeliveries(ctx, endpoint.id, {}, newest, { number: 1, size: LATEST })
  return webhookPage(form, { ctx, endpoint, counts, deliveries, done: queryOf(request).get('done') ?? '' })
}

/** @throws DomainError invalid if the address is missing. */
function readWebhook(ctx: Context, values: URLSearchParams) {
  const { url, mode, description } = readFields(values, 'url', 'mode', 'description')
  throwIfIssues(url.trim() === '' ? [{ field: 'url', rule: 'required' }] : [])
  return {
    url: url.trim(),
    types: EVENT_TYPES.filter((type) => values.getAll('types').includes(type)),
    mode: WEBHOOK_MODES.find((known) => known === mode) ?? modeOf(ctx),
    description: description.trim(),
  }
}

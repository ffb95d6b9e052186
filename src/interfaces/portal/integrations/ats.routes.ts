import type { FastifyInstance, FastifyRequest } from 'fastify'
import { listCalls } from '../../../domain/ats/calls.ts'
import { enabledSystems, getConnection, isAts, listConnections } from '../../../domain/ats/connections.ts'
import { generateAtsKey, revokeAtsKey, saveAtsApiKey } from '../../../domain/ats/keys.ts'
import { listOrders, reportAgain, testConnection } from '../../../domain/ats/orders.ts'
import { authorize } from '../../../domain/authorization/permissions.ts'
import type { KeyMode } from '../../../domain/context.ts'
import { DomainError } from '../../../domain/errors.ts'
import { ATS_SYSTEMS, type Ats } from '../../../domain/ports/ats-settings.ts'
import { emptyForm, type Form, readFields, submit } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { submitOnce } from '../kit/once.ts'
import { pageSizeOf, queryOf, readPage } from '../kit/paging.ts'
import { RECENT_AUTHENTICATION } from '../kit/recent-authentication.ts'
import { atsKeyPage, atsPage } from './ats.page.ts'
import { atsConnectionPage } from './ats-connection.page.ts'

type SystemRoute = { Params: { ats: string } }
type KeyRoute = { Params: { atsKeyId: string } }
type ConnectionRoute = { Params: { connectionId: string } }
type OrderRoute = { Params: { orderId: string } }

/** Number of calls on the page of a connection. */
const CALLS = 50

/** Connections to applicant tracking systems. Systems that are switched off show how to switch them on. */
export function atsRoutes(app: FastifyInstance): void {
  const onList = (request: FastifyRequest) => (form: Form) => listPage(request, form)

  app.get('/settings/ats', async (request, reply) => show(request, reply, await listPage(request, emptyForm)))

  app.post<SystemRoute>('/settings/ats/:ats/keys', RECENT_AUTHENTICATION, (request, reply) =>
    submitOnce(request, reply, {
      page: onList(request),
      async work(ctx, values) {
        const ats = systemOf(request.params.ats)
        return atsKeyPage(ctx, ats, await generateAtsKey(ctx, ats, readMode(values)))
      },
    }),
  )

  app.post<SystemRoute>('/settings/ats/:ats/their-key', RECENT_AUTHENTICATION, (request, reply) =>
    submit(request, reply, {
      page: onList(request),
      async work(values) {
        const { theirKey } = readFields(values, 'theirKey')
        await saveAtsApiKey(request.ctx, systemOf(request.params.ats), readMode(values), theirKey)
        return `${pathOf(request.ctx, 'settings/ats')}?done=entered`
      },
    }),
  )

  app.post<KeyRoute>('/settings/ats/keys/:atsKeyId/revoke', (request, reply) =>
    submit(request, reply, {
      page: onList(request),
      async work() {
        await revokeAtsKey(request.ctx, request.params.atsKeyId)
        return `${pathOf(request.ctx, 'settings/ats')}?done=revoked`
      },
    }),
  )

  app.get<ConnectionRoute>('/settings/ats/connections/:connectionId', async (request, reply) =>
    show(request, reply, await connectionPage(request, request.params.connectionId, { values: queryOf(request), issues: [] })),
  )

  app.post<ConnectionRoute>('/settings/ats/connections/:connectionId/test', (request, reply) => {
    const { connectionId } = request.params
    return submitOnce(request, reply, {
      page: (form) => connectionPage(request, connectionId, form),
      async work(ctx) {
        await testConnection(ctx, connectionId)
        return `${pathOf(ctx, `settings/ats/connections/${connectionId}`)}?done=tested`
      },
    })
  })

  app.post<OrderRoute>('/settings/ats/orders/:orderId/report', (request, reply) =>
    submitOnce(request, reply, {
      page: onList(request),
      async work(ctx) {
        const connectionId = await reportAgain(ctx, request.params.orderId)
        return `${pathOf(ctx, `settings/ats/connections/${connectionId}`)}?done=reported`
      },
    }),
  )
}

async function listPage(request: FastifyRequest, form: Form) {
  const { ctx } = request
  authorize(ctx, 'manage_ats')
  const enabled = enabledSystems(ctx)
  const systems = []
  for (const ats of ATS_SYSTEMS)
    systems.push({ ats, connections: enabled.includes(ats) ? await listConnections(ctx, ats) : null })
  return atsPage(form, { ctx, systems, done: queryOf(request).get('done') ?? '' })
}

async function connectionPage(request: FastifyRequest, connectionId: string, form: Form) {
  const { ctx } = request
  const connection = await getConnection(ctx, connectionId)
  const query = queryOf(request)
  const orders = await listOrders(ctx, connection, readPage(query, pageSizeOf(request)))
  const calls = await listCalls(ctx, connection, { number: 1, size: CALLS })
  return atsConnectionPage(form, { ctx, connection, orders, calls, done: query.get('done') ?? '' })
}

/** @throws DomainError ats_not_found. */
function systemOf(text: string): Ats {
  if (!isAts(text)) throw new DomainError('ats_not_found')
  return text
}

const readMode = (values: URLSearchParams): KeyMode => (values.get('mode') === 'test' ? 'test' : 'live')

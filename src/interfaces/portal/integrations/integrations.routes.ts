import type { FastifyInstance, FastifyRequest } from 'fastify'
import { generateKey, listKeys, revokeKey, rotateKey } from '../../../domain/access/manage-keys.ts'
import { refuse } from '../../../domain/checking/refuse.ts'
import { daysAfter } from '../../../domain/values/days.ts'
import { emptyForm, type Form, readFields, submit } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { submitOnce } from '../kit/once.ts'
import { integrationsPage, keyPage } from './integrations.page.ts'

type KeyRoute = { Params: { keyId: string } }

export function integrationsRoutes(app: FastifyInstance): void {
  const page = async ({ ctx }: FastifyRequest, form: Form, done?: string) =>
    integrationsPage(form, { ctx, keys: await listKeys(ctx), done })

  app.get<{ Querystring: { done?: string } }>('/settings/integrations', async (request, reply) =>
    show(request, reply, await page(request, emptyForm, request.query.done)),
  )

  app.post('/settings/integrations', (request, reply) =>
    submitOnce(request, reply, {
      page: (form) => page(request, form),
      async work(ctx, values) {
        const { name, mode } = readFields(values, 'name', 'mode')
        const expiresAt = readExpiry(values, ctx.deps.clock())
        return keyPage(ctx, await generateKey(ctx, { name, mode: mode === 'test' ? 'test' : 'live', expiresAt }))
      },
    }),
  )

  app.post<KeyRoute>('/settings/integrations/:keyId/rotate', (request, reply) =>
    submitOnce(request, reply, {
      page: (form) => page(request, form),
      work: async (ctx) => keyPage(ctx, await rotateKey(ctx, request.params.keyId)),
    }),
  )

  app.post<KeyRoute>('/settings/integrations/:keyId/revoke', (request, reply) =>
    submit(request, reply, {
      page: (form) => page(request, form),
      async work() {
        await revokeKey(request.ctx, request.params.keyId)
        return `${pathOf(request.ctx, 'settings/integrations')}?done=revoked`
      },
    }),
  )
}

/** When the key is to expire; null: never. @throws DomainError invalid for a day that is none. */
function readExpiry(values: URLSearchParams, now: Date): Date | null {
  const { expiry, expiresAt: date } = readFields(values, 'expiry', 'expiresAt')
  if (expiry === '' || expiry === 'never') return null
  if (/^\d{1,3}$/.test(expiry)) return daysAfter(now, Number(expiry))
  const day = new Date(`${date}T00:00:00Z`)
  refuse(/^\d{4}-/.test(date) && !Number.isNaN(day.getTime()) ? [] : [{ field: 'expiresAt', rule: 'account', problem: 'date' }])
  return daysAfter(day, 1)
}

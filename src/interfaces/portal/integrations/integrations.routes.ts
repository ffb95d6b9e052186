import type { FastifyInstance, FastifyRequest } from 'fastify'
import {
  changeKeyAllowance,
  generateKey,
  getKey,
  limitKey,
  listKeys,
  maxKeyDays,
  revokeKey,
  rotateKey,
} from '../../../domain/api-keys/manage-keys.ts'
import { KEY_RIGHTS, KEY_SCOPES } from '../../../domain/authorization/permissions.ts'
import { NO_PASSWORD } from '../../../domain/sign-in/passwords.ts'
import { daysAfter } from '../../../domain/time/days.ts'
import { throwIfIssues } from '../../../domain/validation/throw-if-issues.ts'
import { readNumber } from '../../../http/forms/read-form.ts'
import { emptyForm, type Form, readFields, readLines, submit } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { submitOnce } from '../kit/once.ts'
import { RECENT_AUTHENTICATION } from '../kit/recent-authentication.ts'
import { browserOf } from '../sign-in/browser-of.ts'
import { signedInOf } from '../sign-in/session.ts'
import { apiKeyPage, integrationsPage, newKeyPage } from './integrations.page.ts'

type KeyRoute = { Params: { keyId: string } }

export function integrationsRoutes(app: FastifyInstance): void {
  const page = async ({ ctx, ip }: FastifyRequest, form: Form, done?: string) =>
    integrationsPage(form, { ctx, keys: await listKeys(ctx), address: ip, longestDays: await maxKeyDays(ctx), done })

  app.get<{ Querystring: { done?: string } }>('/settings/integrations', async (request, reply) =>
    show(request, reply, await page(request, emptyForm, request.query.done)),
  )

  app.post('/settings/integrations', RECENT_AUTHENTICATION, (request, reply) =>
    submitOnce(request, reply, {
      page: (form) => page(request, form),
      async work(ctx, values) {
        const { name, mode } = readFields(values, 'name', 'mode')
        const expiresAt = readExpiry(values, ctx.deps.clock())
        const newKey = { name, mode: mode === 'test' ? 'test' : 'live', expiresAt, ...readRestrictions(values) } as const
        return newKeyPage(ctx, await generateKey(ctx, newKey))
      },
    }),
  )

  const onePage = async (request: FastifyRequest<KeyRoute>, form: Form, extras: { done?: string; preset?: string } = {}) => {
    const { ctx, params, ip } = request
    const hasPassword = signedInOf(request).credential.passwordHash !== NO_PASSWORD
    return apiKeyPage(form, { ctx, apiKey: await getKey(ctx, params.keyId), hasPassword, address: ip, ...extras })
  }
  const addressOf = ({ ctx, params }: FastifyRequest<KeyRoute>, done: string) =>
    `${pathOf(ctx, `settings/integrations/${params.keyId}`)}?done=${done}`

  app.get<KeyRoute & { Querystring: { done?: string; preset?: string } }>(
    '/settings/integrations/:keyId',
    async (request, reply) => show(request, reply, await onePage(request, emptyForm, request.query)),
  )

  app.post<KeyRoute>(
    '/settings/integrations/:keyId/rights',
    { config: { hasOwnQueue: true, requiresRecentAuthentication: true } },
    (request, reply) =>
      submit(request, reply, {
        page: (form) => onePage(request, form),
        async work(values) {
          const { current } = readFields(values, 'current')
          const rights = KEY_RIGHTS.filter((right) => values.getAll('rights').includes(right))
          const confirmation = { current, origin: browserOf(request), signedIn: signedInOf(request) }
          await changeKeyAllowance(request.ctx, request.params.keyId, { rights, ...readRestrictions(values), ...confirmation })
          return addressOf(request, 'rights')
        },
      }),
  )

  app.post<KeyRoute>('/settings/integrations/:keyId/limit', (request, reply) =>
    submit(request, reply, {
      page: (form) => onePage(request, form),
      async work(values) {
        const isNone = readFields(values, 'requestsPerMinute').requestsPerMinute.trim() === ''
        const requestsPerMinute = isNone ? null : readNumber(values, 'requestsPerMinute')
        await limitKey(request.ctx, request.params.keyId, { requestsPerMinute })
        return addressOf(request, 'limit')
      },
    }),
  )

  app.post<KeyRoute>('/settings/integrations/:keyId/rotate', RECENT_AUTHENTICATION, (request, reply) =>
    submitOnce(request, reply, {
      page: (form) => page(request, form),
      work: async (ctx) => newKeyPage(ctx, await rotateKey(ctx, request.params.keyId)),
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

const readRestrictions = (values: URLSearchParams) => ({
  scopes: KEY_SCOPES.filter((scope) => values.getAll('scopes').includes(scope)),
  networks: readLines(values, 'networks'),
})

/** @returns null for a key that never expires. @throws DomainError invalid if the date is invalid. */
function readExpiry(values: URLSearchParams, now: Date): Date | null {
  const { expiry, expiresAt: date } = readFields(values, 'expiry', 'expiresAt')
  if (expiry === '' || expiry === 'never') return null
  if (/^\d{1,3}$/.test(expiry)) return daysAfter(now, Number(expiry))
  const day = new Date(`${date}T00:00:00Z`)
  throwIfIssues(
    /^\d{4}-/.test(date) && !Number.isNaN(day.getTime()) ? [] : [{ field: 'expiresAt', rule: 'account', problem: 'date' }],
  )
  return daysAfter(day, 1)
}

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { RETENTION_RULES, type RetentionDays } from '../../../domain/erasure/due-invites.ts'
import { changeRetention, previewRetention, readRetention } from '../../../domain/erasure/retention.ts'
import { emptyForm, type Form, findSeen, submit } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { queryOf } from '../kit/paging.ts'
import { RECENT_AUTHENTICATION } from '../kit/recent-authentication.ts'
import { RETENTION, retentionPage } from './retention.page.ts'

export function retentionRoutes(app: FastifyInstance): void {
  const page = async ({ ctx }: FastifyRequest, form: Form, done = '') => {
    const days = readRetentionDays(form.values)
    const toConfirm = form.issues.some(({ field }) => field === 'sure')
      ? { ...(await previewRetention(ctx, days)), word: confirmationToken(days) }
      : null
    return retentionPage(form, { ctx, retention: await readRetention(ctx), toConfirm, done, now: ctx.deps.clock() })
  }

  app.get(`/${RETENTION}`, async (request, reply) =>
    show(request, reply, await page(request, emptyForm, queryOf(request).get('done') ?? '')),
  )

  app.post(`/${RETENTION}`, RECENT_AUTHENTICATION, (request, reply) =>
    submit(request, reply, {
      page: (form) => page(request, form),
      async work(values) {
        const days = readRetentionDays(values)
        await changeRetention(request.ctx, {
          kept: days,
          isSure: values.get('sure') === confirmationToken(days),
          seen: findSeen(values),
        })
        return `${pathOf(request.ctx, RETENTION)}?done=saved`
      },
    }),
  )
}

function readRetentionDays(values: URLSearchParams): RetentionDays {
  const days = RETENTION_RULES.map((rule) => {
    const typed = (values.get(rule) ?? '').trim()
    return [rule, typed === '' ? null : Number(typed)]
  })
  return Object.fromEntries(days) as RetentionDays
}

const confirmationToken = (days: RetentionDays): string => RETENTION_RULES.map((rule) => days[rule] ?? 'ever').join(' ')

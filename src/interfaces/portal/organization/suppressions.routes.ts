import type { FastifyInstance, FastifyRequest } from 'fastify'
import { authorize } from '../../../domain/authorization/permissions.ts'
import { DomainError } from '../../../domain/errors.ts'
import { deleteSuppression, getSuppression, listSuppressions, suppressAddress } from '../../../domain/invites/suppressions.ts'
import { emptyForm, type Form, readFields, submit } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { submitOnce } from '../kit/once.ts'
import { queryOf, readList } from '../kit/paging.ts'
import { SUPPRESSIONS, suppressionPage, suppressionsPage } from './suppressions.page.ts'

type SuppressionRoute = { Params: { suppressionId: string } }

export function suppressionsRoutes(app: FastifyInstance): void {
  app.get(`/${SUPPRESSIONS}`, async (request, reply) =>
    show(request, reply, await listPage(request, emptyForm, queryOf(request).get('done') ?? '')),
  )

  app.post(`/${SUPPRESSIONS}`, (request, reply) =>
    submitOnce(request, reply, {
      page: (form) => listPage(request, form),
      async work(ctx, values) {
        await suppressAddress(ctx, readFields(values, 'address').address)
        return `${pathOf(ctx, SUPPRESSIONS)}?done=added`
      },
    }),
  )

  app.get<SuppressionRoute>(`/${SUPPRESSIONS}/:suppressionId`, async (request, reply) =>
    show(request, reply, await onePage(request, emptyForm)),
  )

  app.post<SuppressionRoute>(`/${SUPPRESSIONS}/:suppressionId/lift`, (request, reply) =>
    submit(request, reply, {
      page: (form) => onePage(request, form),
      async work(values) {
        const { ctx, params } = request
        const { reason } = await getSuppression(ctx, params.suppressionId)
        if ((reason === 'complaint' || reason === 'unsubscribed') && !values.has('sure'))
          throw new DomainError('invalid', { issues: [{ field: 'sure', rule: 'required' }] })
        await deleteSuppression(ctx, params.suppressionId, readFields(values, 'why').why)
        return `${pathOf(ctx, SUPPRESSIONS)}?done=lifted`
      },
    }),
  )
}

async function listPage(request: FastifyRequest, form: Form, done = '') {
  const { ctx } = request
  authorize(ctx, 'operate_invites')
  const { search } = readFields(queryOf(request), 'search')
  const found = await readList(request, (page) => listSuppressions(ctx, { search }, { field: 'since', direction: 'desc' }, page))
  return suppressionsPage(form, { ctx, found, done })
}

async function onePage({ ctx, params }: FastifyRequest<SuppressionRoute>, form: Form) {
  authorize(ctx, 'operate_invites')
  return suppressionPage(form, { ctx, suppression: await getSuppression(ctx, params.suppressionId) })
}

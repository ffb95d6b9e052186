import type { FastifyInstance, FastifyRequest } from 'fastify'
import { findRequesterName, getErasure, listErasures } from '../../../domain/erasure/erasures.ts'
import { findTracesOf } from '../../../domain/erasure/find-traces.ts'
import { requestErasure } from '../../../domain/erasure/request-erasure.ts'
import { DomainError } from '../../../domain/errors.ts'
import { getInvite } from '../../../domain/invites/invites.ts'
import { emptyForm, type Form } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { submitOnce } from '../kit/once.ts'
import { pageSizeOf, queryOf, readPage } from '../kit/paging.ts'
import { RECENT_AUTHENTICATION } from '../kit/recent-authentication.ts'
import { type CandidateRoute, orRedirectToReceipt } from './erased-meanwhile.ts'
import { confirmErasurePage, ERASURES, erasurePage, erasuresPage, formatRequester } from './erasure.page.ts'

export function erasureRoutes(app: FastifyInstance): void {
  const page = async ({ ctx, params }: FastifyRequest<CandidateRoute>, form: Form) =>
    confirmErasurePage(form, { ctx, inviteId: params.inviteId, ...(await findTracesOf(ctx, params.inviteId)) })

  app.get<CandidateRoute>('/candidates/:inviteId/erase', async (request, reply) =>
    orRedirectToReceipt(request, reply, async () => show(request, reply, await page(request, emptyForm))),
  )

  app.post<CandidateRoute>('/candidates/:inviteId/erase', RECENT_AUTHENTICATION, (request, reply) =>
    orRedirectToReceipt(request, reply, () =>
      submitOnce(request, reply, {
        page: (form) => page(request, form),
        async work(ctx, values) {
          const { recipientEmail: address } = await getInvite(ctx, request.params.inviteId)
          if (!values.has('sure')) throw new DomainError('invalid', { issues: [{ field: 'sure', rule: 'required' }] })
          const { id } = await requestErasure(ctx, { address })
          return pathOf(ctx, `${ERASURES}/${id}`)
        },
      }),
    ),
  )

  app.get(`/${ERASURES}`, async (request, reply) => {
    const query = queryOf(request)
    const list = await listErasures(request.ctx, readPage(query, pageSizeOf(request)))
    return show(request, reply, erasuresPage({ ctx: request.ctx, list, query }))
  })

  app.get<{ Params: { erasureId: string } }>(`/${ERASURES}/:erasureId`, async (request, reply) => {
    const { ctx, params } = request
    const erasure = await getErasure(ctx, params.erasureId)
    const isAgain = queryOf(request).get('done') === 'already'
    return show(
      request,
      reply,
      erasurePage({ ctx, erasure, requester: formatRequester(erasure, await findRequesterName(ctx, erasure)), isAgain }),
    )
  })
}

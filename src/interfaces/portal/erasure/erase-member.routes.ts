import type { FastifyInstance, FastifyRequest } from 'fastify'
import { findMemberTraces, requestMemberErasure } from '../../../domain/erasure/request-member-erasure.ts'
import { throwIfIssues } from '../../../domain/validation/throw-if-issues.ts'
import { emptyForm, type Form } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { submitOnce } from '../kit/once.ts'
import { RECENT_AUTHENTICATION } from '../kit/recent-authentication.ts'
import { eraseMemberPage } from './erase-member.page.ts'
import { ERASURES } from './erasure.page.ts'

type MemberRoute = { Params: { memberId: string } }

export function eraseMemberRoutes(app: FastifyInstance): void {
  const page = async ({ ctx, params }: FastifyRequest<MemberRoute>, form: Form) =>
    eraseMemberPage(form, { ctx, ...(await findMemberTraces(ctx, params.memberId)) })

  app.get<MemberRoute>('/members/:memberId/erase', async (request, reply) => show(request, reply, await page(request, emptyForm)))

  app.post<MemberRoute>('/members/:memberId/erase', RECENT_AUTHENTICATION, (request, reply) =>
    submitOnce(request, reply, {
      page: (form) => page(request, form),
      async work(ctx, values) {
        const { memberId } = request.params
        await findMemberTraces(ctx, memberId)
        throwIfIssues(values.has('sure') ? [] : [{ field: 'sure', rule: 'required' }])
        const { id } = await requestMemberErasure(ctx, { memberId, revokesKeys: values.has('revokesKeys') })
        return pathOf(ctx, `${ERASURES}/${id}`)
      },
    }),
  )
}

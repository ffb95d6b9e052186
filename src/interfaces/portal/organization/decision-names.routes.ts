import type { FastifyInstance, FastifyRequest } from 'fastify'
import { authorize } from '../../../domain/authorization/permissions.ts'
import { NAMED_DECISIONS, readDecisionNames, renameDecisions } from '../../../domain/invites/decisions/decision-names.ts'
import { emptyForm, type Form, readFields, submit } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { queryOf } from '../kit/paging.ts'
import { DECISION_SETTINGS, decisionNamesPage } from './decision-names.page.ts'

export function decisionNamesRoutes(app: FastifyInstance): void {
  const page = async ({ ctx }: FastifyRequest, form: Form, done = '') => {
    authorize(ctx, 'manage_settings')
    return decisionNamesPage(form, { ctx, names: await readDecisionNames(ctx), done })
  }

  app.get(`/${DECISION_SETTINGS}`, async (request, reply) =>
    show(request, reply, await page(request, emptyForm, queryOf(request).get('done') ?? '')),
  )

  app.post(`/${DECISION_SETTINGS}`, (request, reply) =>
    submit(request, reply, {
      page: (form) => page(request, form),
      async work(values) {
        await renameDecisions(request.ctx, readFields(values, ...NAMED_DECISIONS))
        return `${pathOf(request.ctx, DECISION_SETTINGS)}?done=saved`
      },
    }),
  )
}

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { authorize } from '../../../domain/authorization/permissions.ts'
import { liftSuspension, suspendOrganization } from '../../../domain/erasure/suspension.ts'
import { emptyForm, type Form, readFields } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { submitOnce } from '../kit/once.ts'
import { RECENT_AUTHENTICATION } from '../kit/recent-authentication.ts'
import { ERASE_ORGANIZATION, eraseOrganizationPage } from './organization.page.ts'

export function organizationErasureRoutes(app: FastifyInstance): void {
  const page = ({ ctx }: FastifyRequest, form: Form) => {
    authorize(ctx, 'erase_organization')
    return eraseOrganizationPage(form, ctx)
  }

  app.get(`/${ERASE_ORGANIZATION}`, async (request, reply) => show(request, reply, page(request, emptyForm)))

  app.post(`/${ERASE_ORGANIZATION}`, RECENT_AUTHENTICATION, (request, reply) =>
    submitOnce(request, reply, {
      page: (form) => page(request, form),
      async work(ctx, values) {
        await suspendOrganization(ctx, { name: readFields(values, 'name').name })
        return pathOf(ctx)
      },
    }),
  )

  app.post('/hold/keep', { config: { duringSuspension: true } }, async ({ ctx }, reply) => {
    await liftSuspension(ctx)
    return reply.redirect(pathOf(ctx), 303)
  })
}

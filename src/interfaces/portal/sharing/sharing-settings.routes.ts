import type { FastifyInstance, FastifyRequest } from 'fastify'
import { authorize } from '../../../domain/authorization/permissions.ts'
import { changeClientView, changeSharing, isSharing, readClientView } from '../../../domain/sharing/sharing-settings.ts'
import { emptyForm, type Form, submit } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { queryOf } from '../kit/paging.ts'
import { clientViewPage, SHARING_SETTINGS, sharingSettingsPage } from './sharing-settings.page.ts'

type Route = { Params: { assessmentId: string } }

export function sharingSettingsRoutes(app: FastifyInstance): void {
  const settings = async (request: FastifyRequest, form: Form) => {
    authorize(request.ctx, 'manage_settings')
    const done = queryOf(request).get('done') ?? ''
    return sharingSettingsPage(form, request.ctx, { isOn: await isSharing(request.ctx), done })
  }
  app.get(`/${SHARING_SETTINGS}`, async (request, reply) => show(request, reply, await settings(request, emptyForm)))

  app.post(`/${SHARING_SETTINGS}`, (request, reply) =>
    submit(request, reply, {
      page: (form) => settings(request, form),
      async work(values) {
        await changeSharing(request.ctx, values.get('isOn') === 'yes')
        return `${pathOf(request.ctx, SHARING_SETTINGS)}?done=saved`
      },
    }),
  )

  const view = async (request: FastifyRequest<Route>, form: Form) => {
    const { ctx, params } = request
    return clientViewPage(form, ctx, await readClientView(ctx, params.assessmentId), queryOf(request).get('done') ?? '')
  }
  app.get<Route>('/assessments/:assessmentId/client-view', async (request, reply) =>
    show(request, reply, await view(request, emptyForm)),
  )

  app.post<Route>('/assessments/:assessmentId/client-view', (request, reply) =>
    submit(request, reply, {
      page: (form) => view(request, form),
      async work(values) {
        const { ctx, params } = request
        await changeClientView(ctx, params.assessmentId, values.getAll('sees'))
        return `${pathOf(ctx, `assessments/${params.assessmentId}/client-view`)}?done=saved`
      },
    }),
  )
}

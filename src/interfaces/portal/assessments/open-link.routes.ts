import type { FastifyInstance, FastifyRequest } from 'fastify'
import { may } from '../../../domain/authorization/permissions.ts'
import { listTagChoices } from '../../../domain/invites/form-options.ts'
import { changeOpenLink, getOpenLink, replaceOpenLink } from '../../../domain/open-links/open-links.ts'
import { listCapturedRegistrations } from '../../../domain/open-links/registration-emails.ts'
import { emptyForm, type Form, submit } from '../kit/forms.ts'
import { type Page, pathOf, show } from '../kit/layout.ts'
import { queryOf } from '../kit/paging.ts'
import { readAssessmentHead } from './assessment-head.ts'
import type { AssessmentRoute } from './assessments.routes.ts'
import { OPEN_LINK_NOTICES, openLinkPage, readOpenLink } from './open-link.page.ts'

/** Captured mails of a test link that its page shows. */
const MAX_CAPTURED = 10

/** The open link of an assessment: sharing it, and its settings. */
export function openLinkRoutes(app: FastifyInstance): void {
  const page = async (request: FastifyRequest, assessmentId: string, form: Form): Promise<Page> => {
    const { ctx } = request
    const head = await readAssessmentHead(ctx, assessmentId)
    const captured =
      ctx.mode === 'test' && may(ctx, 'write_assessments')
        ? await listCapturedRegistrations(ctx, head.assessment.id, MAX_CAPTURED)
        : []
    const link = await getOpenLink(ctx, assessmentId)
    return openLinkPage(form, {
      ...head,
      link,
      tags: may(ctx, 'read') ? await listTagChoices(ctx, { chosenIds: link.tagIds }) : null,
      captured: captured.map((mail) => ({ mail, url: ctx.deps.links.registrationUrl(mail.id) })),
      notice: OPEN_LINK_NOTICES.get(queryOf(request).get('done') ?? ''),
    })
  }

  app.get<AssessmentRoute>('/assessments/:assessmentId/open-link', async (request, reply) =>
    show(request, reply, await page(request, request.params.assessmentId, emptyForm)),
  )

  const addForm = (
    action: string,
    done: string,
    work: (request: FastifyRequest, assessmentId: string, values: URLSearchParams) => Promise<unknown>,
  ) =>
    app.post<AssessmentRoute>(`/assessments/:assessmentId/open-link${action}`, (request, reply) => {
      const { assessmentId } = request.params
      return submit(request, reply, {
        page: (form) => page(request, assessmentId, form),
        async work(values) {
          await work(request, assessmentId, values)
          return `${pathOf(request.ctx, `assessments/${assessmentId}/open-link`)}?done=${done}`
        },
      })
    })
  addForm('', 'saved', async ({ ctx }, assessmentId, values) =>
    changeOpenLink(ctx, assessmentId, readOpenLink(values, await getOpenLink(ctx, assessmentId))),
  )
  addForm('/on', 'on', ({ ctx }, assessmentId) => changeOpenLink(ctx, assessmentId, { isOn: true }))
  addForm('/off', 'off', ({ ctx }, assessmentId) => changeOpenLink(ctx, assessmentId, { isOn: false }))
  addForm('/replace', 'replaced', ({ ctx }, assessmentId) => replaceOpenLink(ctx, assessmentId))
}

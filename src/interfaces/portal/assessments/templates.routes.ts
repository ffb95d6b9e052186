import type { FastifyInstance, FastifyRequest } from 'fastify'
import { createFromTemplate, listTemplates, setTemplate } from '../../../domain/assessments/templates.ts'
import { DomainError } from '../../../domain/errors.ts'
import { shippedTemplates } from '../../../templates/templates.ts'
import { emptyForm, type Form, submit } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { submitOnce } from '../kit/once.ts'
import { queryOf } from '../kit/paging.ts'
import { type AssessmentRoute, showAssessment } from './assessments.routes.ts'
import { templatesPage } from './templates.page.ts'

const DEFAULT_LANGUAGE = 'en'

export function templatesRoutes(app: FastifyInstance): void {
  const page = async ({ ctx }: FastifyRequest, form: Form, wantedLanguage: string | null) => {
    const allTemplates = shippedTemplates()
    const languages = [...new Set(allTemplates.map(({ language }) => language))]
    const language = languages.find((code) => code === wantedLanguage) ?? DEFAULT_LANGUAGE
    const templates = allTemplates.filter((template) => template.language === language)
    return templatesPage(form, { ctx, languages, language, templates, ownTemplates: await listTemplates(ctx) })
  }

  app.get('/assessments/templates', async (request, reply) =>
    show(request, reply, await page(request, emptyForm, queryOf(request).get('language'))),
  )

  app.post('/assessments/templates', (request, reply) =>
    submitOnce(request, reply, {
      page: (form) => page(request, form, form.values.get('language')),
      async work(ctx, values) {
        const wantedTemplate = (values.get('template') ?? '') + (values.get('language') ?? '')
        const template = shippedTemplates().find(({ name, language }) => name + language === wantedTemplate)
        if (!template) throw new DomainError('invalid', { issues: [{ field: 'template', rule: 'required' }] })
        return `${pathOf(ctx, `assessments/${await createFromTemplate(ctx, template)}`)}?done=from-template`
      },
    }),
  )

  for (const [action, isTemplate] of [
    ['save-template', true],
    ['remove-template', false],
  ] as const)
    app.post<AssessmentRoute>(`/assessments/:assessmentId/${action}`, (request, reply) =>
      submit(request, reply, {
        page: (form) => showAssessment(request, request.params.assessmentId, form),
        async work() {
          const { assessmentId } = request.params
          await setTemplate(request.ctx, assessmentId, isTemplate)
          return `${pathOf(request.ctx, `assessments/${assessmentId}`)}?done=${action}`
        },
      }),
    )
}

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { getAssessment } from '../../../domain/assessments/assessments.ts'
import { authorize } from '../../../domain/authorization/permissions.ts'
import { addManyFromLibrary, findAdded, MAX_ADDED_AT_ONCE } from '../../../domain/library/add-from-library.ts'
import { listLibrary } from '../../../domain/library/list-library.ts'
import { MAX_FILTER_LENGTH } from '../../../domain/limits.ts'
import { type Form, readFields, submit } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { queryOf } from '../kit/paging.ts'
import { addToAssessmentPage } from './add-to-assessment.page.ts'

type Route = { Params: { assessmentId: string } }

export function addToAssessmentRoutes(app: FastifyInstance): void {
  app.get<Route>('/assessments/:assessmentId/library', async (request, reply) =>
    show(request, reply, await page(request, { values: queryOf(request), issues: [] })),
  )

  app.post<Route>('/assessments/:assessmentId/library', (request, reply) =>
    submit(request, reply, {
      page: (form) => page(request, form),
      async work(values) {
        const { ctx, params } = request
        const { assessmentId } = params
        await addManyFromLibrary(ctx, [...new Set(values.getAll('questions'))], assessmentId)
        return `${pathOf(ctx, `assessments/${assessmentId}`)}?done=question-added#order`
      },
    }),
  )
}

async function page({ ctx, params }: FastifyRequest<Route>, form: Form) {
  authorize(ctx, 'write_assessments')
  const assessment = await getAssessment(ctx, params.assessmentId)
  const { search, import: importId } = readFields(form.values, 'search', 'import')
  const filter = { search: search.slice(0, MAX_FILTER_LENGTH), importId: importId || undefined }
  const matches = await listLibrary(ctx, filter, MAX_ADDED_AT_ONCE)
  const ids = matches.items.map(({ id }) => id)
  return addToAssessmentPage(form, { ctx, assessment, matches, added: await findAdded(ctx, assessment.id, ids) })
}

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { toAssessmentInput } from '../../../domain/assessments/assessment-input.ts'
import { getAssessment, listAssessments, wholeAssessment } from '../../../domain/assessments/assessments.ts'
import {
  createAssessment,
  deleteAssessment,
  duplicateAssessment,
  setArchived,
  updateAssessment,
} from '../../../domain/assessments/edit-assessments.ts'
import { listQuestions, wholeQuestion } from '../../../domain/assessments/questions.ts'
import { readWarnings } from '../../../domain/assessments/read-warnings.ts'
import { getStructure } from '../../../domain/assessments/structure.ts'
import { authorize } from '../../../domain/authorization/permissions.ts'
import { MAX_PAGE_SIZE } from '../../../domain/limits.ts'
import { getOpenLink } from '../../../domain/open-links/open-links.ts'
import { previewPath } from '../../../http/addresses/preview.ts'
import { emptyForm, type Form, readFields, readSeen, submit } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { submitOnce } from '../kit/once.ts'
import { queryOf, readList, readPage } from '../kit/paging.ts'
import { type AssessmentFacts, assessmentPage } from './assessment.page.ts'
import { editAssessmentPage, newAssessmentPage, readAssessment } from './assessments.form.ts'
import { assessmentsPage, NOTICES } from './assessments.page.ts'

export type AssessmentRoute = { Params: { assessmentId: string } }

export async function readAssessmentFacts(request: FastifyRequest, assessmentId: string): Promise<AssessmentFacts> {
  const { ctx } = request
  const assessment = await getAssessment(ctx, assessmentId)
  const page = readPage(queryOf(request), MAX_PAGE_SIZE)
  const questions = await listQuestions(ctx, wholeQuestion, assessmentId, { field: 'order', direction: 'asc' }, page)
  const input = await toAssessmentInput(ctx, assessment)
  const openLink = assessment.audience === 'public' ? await getOpenLink(ctx, assessmentId) : null
  const structure = await getStructure(ctx, assessmentId)
  return { ctx, assessment, input, questions, structure, cautions: await readWarnings(ctx, assessment), openLink }
}

export async function showAssessment(request: FastifyRequest, assessmentId: string, form: Form) {
  const notice = NOTICES.get(queryOf(request).get('done') ?? '')
  return assessmentPage(form, { ...(await readAssessmentFacts(request, assessmentId)), notice })
}

export function assessmentsRoutes(app: FastifyInstance): void {
  app.get('/assessments', async (request, reply) => {
    const { ctx } = request
    const { search, shown, skill, category } = readFields(queryOf(request), 'search', 'shown', 'skill', 'category')
    const archived = shown === 'archived'
    const filter = {
      ...{ search, ...(skill && { skill }), ...(category && { category }) },
      ...(archived ? ({ isArchived: true } as const) : ({ isInUse: true } as const)),
    }
    const filtered = await readList(request, (page) =>
      listAssessments(ctx, wholeAssessment, filter, { field: 'createdAt', direction: 'desc' }, page),
    )
    return show(request, reply, assessmentsPage(filtered, { ctx, archived }), filtered.form.issues.length > 0 ? 422 : 200)
  })

  app.get('/assessments/new', async (request, reply) => {
    authorize(request.ctx, 'write_assessments')
    return show(request, reply, newAssessmentPage(emptyForm, request.ctx))
  })

  app.post('/assessments', (request, reply) =>
    submitOnce(request, reply, {
      page: (form) => newAssessmentPage(form, request.ctx),
      work: async (ctx, values) =>
        `${pathOf(ctx, `assessments/${await createAssessment(ctx, readAssessment(values))}`)}?done=created`,
    }),
  )

  app.get<AssessmentRoute>('/assessments/:assessmentId', async (request, reply) =>
    show(request, reply, await showAssessment(request, request.params.assessmentId, emptyForm)),
  )

  const editPage = async ({ ctx }: FastifyRequest, assessmentId: string, form: Form) => {
    const assessment = await getAssessment(ctx, assessmentId)
    return editAssessmentPage(form, { ctx, assessment, input: await toAssessmentInput(ctx, assessment) })
  }

  app.get<AssessmentRoute>('/assessments/:assessmentId/edit', async (request, reply) => {
    authorize(request.ctx, 'write_assessments')
    return show(request, reply, await editPage(request, request.params.assessmentId, emptyForm))
  })

  app.post<AssessmentRoute>('/assessments/:assessmentId/edit', (request, reply) =>
    submit(request, reply, {
      page: (form) => editPage(request, request.params.assessmentId, form),
      async work(values) {
        const { assessmentId } = request.params
        await updateAssessment(request.ctx, assessmentId, readAssessment(values), readSeen(values))
        return `${pathOf(request.ctx, `assessments/${assessmentId}`)}?done=saved`
      },
    }),
  )

  // The preview uses the candidate's pages, see interfaces/candidate/preview.
  app.get<AssessmentRoute>('/assessments/:assessmentId/preview', async ({ ctx, params }, reply) =>
    reply.redirect(previewPath(ctx, (await getAssessment(ctx, params.assessmentId)).id, 'invited'), 303),
  )
  assessmentActionRoutes(app)
}

function assessmentActionRoutes(app: FastifyInstance): void {
  app.post<AssessmentRoute>('/assessments/:assessmentId/duplicate', (request, reply) =>
    submitOnce(request, reply, {
      page: (form) => showAssessment(request, request.params.assessmentId, form),
      work: async (ctx) =>
        `${pathOf(ctx, `assessments/${await duplicateAssessment(ctx, request.params.assessmentId)}`)}?done=duplicated`,
    }),
  )

  for (const [action, isArchived] of [
    ['archive', true],
    ['unarchive', false],
  ] as const)
    app.post<AssessmentRoute>(`/assessments/:assessmentId/${action}`, (request, reply) =>
      submit(request, reply, {
        page: (form) => showAssessment(request, request.params.assessmentId, form),
        async work() {
          await setArchived(request.ctx, request.params.assessmentId, isArchived)
          return `${pathOf(request.ctx, `assessments/${request.params.assessmentId}`)}?done=${action}d`
        },
      }),
    )

  app.post<AssessmentRoute>('/assessments/:assessmentId/delete', (request, reply) =>
    submit(request, reply, {
      page: (form) => showAssessment(request, request.params.assessmentId, form),
      async work() {
        await deleteAssessment(request.ctx, request.params.assessmentId)
        return `${pathOf(request.ctx, 'assessments')}?done=deleted`
      },
    }),
  )
}

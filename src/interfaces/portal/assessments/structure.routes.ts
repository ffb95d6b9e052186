import type { FastifyInstance, FastifyRequest } from 'fastify'
import { getAssessment } from '../../../domain/assessments/assessments.ts'
import { moveToSection } from '../../../domain/assessments/order-questions.ts'
import { addPool, deletePool, type PoolInput, type PoolRef, poolIn, updatePool } from '../../../domain/assessments/pools.ts'
import { listQuestionTexts, type QuestionRef } from '../../../domain/assessments/questions.ts'
import {
  addSection,
  deleteSection,
  moveSection,
  type SectionInput,
  type SectionRef,
  sectionIn,
  updateSection,
} from '../../../domain/assessments/sections.ts'
import { getStructure } from '../../../domain/assessments/structure.ts'
import { authorize } from '../../../domain/authorization/permissions.ts'
import { MAX_PAGE_SIZE } from '../../../domain/limits.ts'
import { readDuration, readNumber, readText } from '../../../http/forms/read-form.ts'
import { emptyForm, type Form, readFields, submit } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { submitOnce } from '../kit/once.ts'
import { type AssessmentRoute, showAssessment } from './assessments.routes.ts'
import { poolPage } from './pools.page.ts'
import { sectionPage } from './sections.page.ts'

type SectionRoute = { Params: SectionRef }
type PoolRoute = { Params: PoolRef }
type QuestionRoute = { Params: QuestionRef }

const after = ({ ctx }: FastifyRequest, { assessmentId }: { assessmentId: string }, done: string): string =>
  `${pathOf(ctx, `assessments/${assessmentId}`)}?done=${done}`

/** Sections and pools of an assessment. */
export function structureRoutes(app: FastifyInstance): void {
  sectionRoutes(app)
  poolRoutes(app)
}

async function newOrEditSection({ ctx }: FastifyRequest, { assessmentId, sectionId }: Partial<SectionRef>, form: Form) {
  authorize(ctx, 'write_assessments')
  const assessment = await getAssessment(ctx, assessmentId!)
  const section = sectionId === undefined ? null : sectionIn(await getStructure(ctx, assessment.id), sectionId)
  return sectionPage(form, { ctx, assessment, section })
}

function sectionRoutes(app: FastifyInstance): void {
  app.get<AssessmentRoute>('/assessments/:assessmentId/sections/new', async (request, reply) =>
    show(request, reply, await newOrEditSection(request, request.params, emptyForm)),
  )

  app.post<AssessmentRoute>('/assessments/:assessmentId/sections', (request, reply) =>
    submitOnce(request, reply, {
      page: (form) => newOrEditSection(request, request.params, form),
      async work(ctx, values) {
        await addSection(ctx, request.params.assessmentId, readSection(values))
        return after(request, request.params, 'section-added')
      },
    }),
  )

  app.get<SectionRoute>('/assessments/:assessmentId/sections/:sectionId', async (request, reply) =>
    show(request, reply, await newOrEditSection(request, request.params, emptyForm)),
  )

  app.post<SectionRoute>('/assessments/:assessmentId/sections/:sectionId', (request, reply) =>
    submit(request, reply, {
      page: (form) => newOrEditSection(request, request.params, form),
      async work(values) {
        await updateSection(request.ctx, request.params, readSection(values))
        return after(request, request.params, 'section-saved')
      },
    }),
  )

  app.post<SectionRoute>('/assessments/:assessmentId/sections/:sectionId/delete', (request, reply) =>
    submit(request, reply, {
      page: (form) => newOrEditSection(request, request.params, form),
      async work() {
        await deleteSection(request.ctx, request.params)
        return after(request, request.params, 'section-deleted')
      },
    }),
  )

  app.post<SectionRoute>('/assessments/:assessmentId/sections/:sectionId/move', (request, reply) =>
    submit(request, reply, {
      page: (form) => showAssessment(request, request.params.assessmentId, form),
      async work(values) {
        await moveSection(request.ctx, request.params, values.get('by') === 'up' ? -1 : 1)
        return `${after(request, request.params, 'section-moved')}#section-${request.params.sectionId}`
      },
    }),
  )

  app.post<QuestionRoute>('/assessments/:assessmentId/questions/:questionId/section', (request, reply) =>
    submit(request, reply, {
      page: (form) => showAssessment(request, request.params.assessmentId, form),
      async work(values) {
        const place = await moveToSection(request.ctx, request.params, readFields(values, 'section').section)
        const page = Math.ceil(place / MAX_PAGE_SIZE)
        return `${after(request, request.params, 'question-moved')}&page=${page}#question-${request.params.questionId}`
      },
    }),
  )
}

const readSection = (values: URLSearchParams): SectionInput => ({
  name: readFields(values, 'name').name.trim(),
  intro: readText(values, 'intro'),
  timeLimit: readDuration(values, 'timeLimit'),
  navigation: readFields(values, 'navigation').navigation,
  shuffle: values.has('shuffle'),
})

async function newOrEditPool({ ctx }: FastifyRequest, { assessmentId, poolId }: Partial<PoolRef>, form: Form) {
  authorize(ctx, 'write_assessments')
  const assessment = await getAssessment(ctx, assessmentId!)
  const pool = poolId === undefined ? null : poolIn(await getStructure(ctx, assessment.id), poolId)
  return poolPage(form, { ctx, assessment, pool, questions: await listQuestionTexts(ctx, assessment.id) })
}

function poolRoutes(app: FastifyInstance): void {
  app.get<AssessmentRoute>('/assessments/:assessmentId/pools/new', async (request, reply) =>
    show(request, reply, await newOrEditPool(request, request.params, emptyForm)),
  )

  app.post<AssessmentRoute>('/assessments/:assessmentId/pools', (request, reply) =>
    submitOnce(request, reply, {
      page: (form) => newOrEditPool(request, request.params, form),
      async work(ctx, values) {
        await addPool(ctx, request.params.assessmentId, readPool(values))
        return after(request, request.params, 'pool-added')
      },
    }),
  )

  app.get<PoolRoute>('/assessments/:assessmentId/pools/:poolId', async (request, reply) =>
    show(request, reply, await newOrEditPool(request, request.params, emptyForm)),
  )

  app.post<PoolRoute>('/assessments/:assessmentId/pools/:poolId', (request, reply) =>
    submit(request, reply, {
      page: (form) => newOrEditPool(request, request.params, form),
      async work(values) {
        await updatePool(request.ctx, request.params, readPool(values))
        return after(request, request.params, 'pool-saved')
      },
    }),
  )

  app.post<PoolRoute>('/assessments/:assessmentId/pools/:poolId/delete', (request, reply) =>
    submit(request, reply, {
      page: (form) => newOrEditPool(request, request.params, form),
      async work() {
        await deletePool(request.ctx, request.params)
        return after(request, request.params, 'pool-deleted')
      },
    }),
  )
}

const readPool = (values: URLSearchParams): PoolInput => ({
  name: readFields(values, 'name').name.trim(),
  draw: readNumber(values, 'draw'),
  points: readNumber(values, 'points'),
  questionIds: values.getAll('questions'),
})

import { Type } from '@sinclair/typebox'
import { getAssessment, listAssessments } from '../domain/assessments.ts'
import { listQuestions } from '../domain/questions.ts'
import { ref } from '../http/schema-ref.ts'
import { AssessmentDetailView, AssessmentView, presentAssessment, presentAssessmentDetail } from './assessments.view.ts'
import { errorResponses } from './errors.ts'
import type { V1App } from './index.ts'
import { answerList, ListOf, ListQuery, toOrder, toPage } from './list.ts'
import { presentQuestion, QuestionView } from './questions.view.ts'

const sortWords = { created_at: 'createdAt', name: 'name', updated_at: 'updatedAt' } as const
const questionSortWords = { order: 'order', created_at: 'createdAt', points: 'points' } as const
const params = Type.Object({ assessmentId: Type.String({ format: 'uuid' }) })
const tags = ['Assessments']

/** v1.md, Assessments. */
export function assessmentRoutes(app: V1App): void {
  app.get(
    '/assessments',
    {
      schema: {
        tags,
        operationId: 'listAssessments',
        summary: 'List assessments',
        querystring: ListQuery(sortWords, {}),
        response: { 200: ListOf('assessments', AssessmentView), ...errorResponses(400) },
      },
    },
    async (request, reply) => {
      const { ctx, query } = request
      const list = await listAssessments(ctx, {}, toOrder(sortWords, query), toPage(query))
      return answerList(request, reply, 'assessments', list, presentAssessment)
    },
  )

  app.get(
    '/assessments/:assessmentId',
    {
      schema: {
        tags,
        operationId: 'getAssessment',
        summary: 'Get an assessment',
        params,
        response: { 200: ref(AssessmentDetailView), ...errorResponses(404) },
      },
    },
    async ({ ctx, params }) => presentAssessmentDetail(await getAssessment(ctx, params.assessmentId)),
  )

  app.get(
    '/assessments/:assessmentId/questions',
    {
      schema: {
        tags,
        operationId: 'listQuestions',
        summary: "List an assessment's questions",
        params,
        querystring: ListQuery(questionSortWords, {}),
        response: { 200: ListOf('questions', QuestionView), ...errorResponses(400, 404) },
      },
    },
    async (request, reply) => {
      const { ctx, params, query } = request
      const list = await listQuestions(ctx, params.assessmentId, toOrder(questionSortWords, query), toPage(query))
      return answerList(request, reply, 'questions', list, presentQuestion)
    },
  )
}

import { Type } from '@sinclair/typebox'
import { getAssessment, listAssessments } from '../../domain/assessments/assessments.ts'
import { listQuestions } from '../../domain/assessments/questions.ts'
import { onReplica } from '../../domain/lists/on-replica.ts'
import type { TypedApp } from '../../http/requests/typed-app.ts'
import { assessmentDetailView, assessmentView } from './assessments.view.ts'
import { answerList, ListOf, ListQuery, toOrder, toPage } from './list.ts'
import { questionView } from './questions.view.ts'

const sortWords = { created_at: 'createdAt', name: 'name', updated_at: 'updatedAt' } as const
const questionSortWords = { order: 'order', created_at: 'createdAt', points: 'points' } as const
const params = Type.Object({ assessmentId: Type.String({ format: 'uuid', description: 'Id of the assessment' }) })
const tags = ['Assessments']

/** v1.md, Assessments. */
export function assessmentRoutes(app: TypedApp): void {
  app.get(
    '/assessments',
    {
      schema: {
        tags,
        operationId: 'listAssessments',
        scope: 'assessments:read',
        summary: 'List assessments',
        description: 'The assessments of the organization, newest first unless sorted otherwise.',
        querystring: ListQuery(sortWords, {}),
        response: { 200: ListOf('assessments', assessmentView.schema) },
      },
    },
    async (request, reply) => {
      const { ctx, query } = request
      const list = await onReplica(ctx, (ctx) =>
        listAssessments(ctx, assessmentView.shown, {}, toOrder(sortWords, query), toPage(query)),
      )
      return answerList(request, reply, 'assessments', list, assessmentView.present)
    },
  )

  app.get(
    '/assessments/:assessmentId',
    {
      schema: {
        tags,
        operationId: 'getAssessment',
        scope: 'assessments:read',
        summary: 'Get an assessment',
        description: 'One assessment, with its maximum points.',
        params,
        response: { 200: assessmentDetailView.schema },
        hasEtag: true,
        errors: ['assessment_not_found'],
      },
    },
    async ({ ctx, params }) => assessmentDetailView.present(await getAssessment(ctx, params.assessmentId)),
  )

  app.get(
    '/assessments/:assessmentId/questions',
    {
      schema: {
        tags,
        operationId: 'listQuestions',
        scope: 'assessments:read',
        summary: "List an assessment's questions",
        description: 'Sorted by their place in the assessment, by default the last first.',
        params,
        querystring: ListQuery(questionSortWords, {}),
        response: { 200: ListOf('questions', questionView.schema) },
        errors: ['assessment_not_found'],
      },
    },
    async (request, reply) => {
      const { ctx, params, query } = request
      const list = await onReplica(ctx, (ctx) =>
        listQuestions(ctx, questionView.shown, params.assessmentId, toOrder(questionSortWords, query), toPage(query)),
      )
      return answerList(request, reply, 'questions', list, questionView.present)
    },
  )
}

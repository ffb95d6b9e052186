import { Type } from '@sinclair/typebox'
import { defineQuestion, getDefinition } from '../../domain/assessments/define-question.ts'
import { addQuestion, changeQuestion, deleteQuestion } from '../../domain/assessments/edit-questions.ts'
import { moveQuestion } from '../../domain/assessments/order-questions.ts'
import { getQuestion, type QuestionRef } from '../../domain/assessments/questions.ts'
import type { Context } from '../../domain/context.ts'
import { refuse } from '../../domain/validation/refuse.ts'
import { answerIdempotently, IdempotencyHeaders } from '../../http/requests/idempotency.ts'
import type { TypedApp } from '../../http/requests/typed-app.ts'
import { AssessmentParams, managing } from './assessment-settings.routes.ts'
import { toSeen } from './assessment-settings.view.ts'
import { tellConflicts } from './conflicts.ts'
import { DefinitionBody, OneDefinition, presentDefinition, toDefinition } from './question-definition.view.ts'
import {
  MovedQuestion,
  NewQuestionBody,
  OneQuestion,
  QuestionChangeBody,
  QuestionPlaceBody,
  toNewQuestion,
  toQuestionChange,
} from './question-editing.view.ts'
import { questionView } from './questions.view.ts'

const params = Type.Object({
  ...AssessmentParams.properties,
  questionId: Type.String({ format: 'uuid', description: 'Id of the question' }),
})
const tags = ['Assessments']
const errors = ['assessment_not_found', 'question_not_found'] as const

const read = async (ctx: Context, ref: QuestionRef) => ({ question: questionView.present(await getQuestion(ctx, ref)) })

/** Beyond v1.md: reads a question; adds, changes, moves and deletes them, for keys that may manage. */
export function questionEditingRoutes(app: TypedApp): void {
  addingRoutes(app)
  changingRoutes(app)
  definingRoutes(app)
}

function addingRoutes(app: TypedApp): void {
  app.get(
    '/assessments/:assessmentId/questions/:questionId',
    {
      schema: {
        tags,
        operationId: 'getQuestion',
        scope: 'assessments:read',
        summary: 'Get a question',
        description: 'One question of an assessment.',
        params,
        response: { 200: OneQuestion },
        hasEtag: true,
        errors: ['question_not_found'],
      },
    },
    async ({ ctx, params }) => read(ctx, params),
  )

  app.post(
    '/assessments/:assessmentId/questions',
    {
      schema: {
        ...managing,
        tags,
        operationId: 'addQuestion',
        scope: 'assessments:write',
        summary: 'Add a question',
        description:
          'Behind the last. It asks by a script, an audio or a video; one that is heard or seen needs the address of that. A question that scores itself is added without responseType, and gets that from `PUT …/definition`.',
        params: AssessmentParams,
        headers: IdempotencyHeaders,
        body: NewQuestionBody,
        response: { 201: OneQuestion },
        errors: ['assessment_not_found'],
      },
    },
    async (request, reply) => {
      const { assessmentId } = request.params
      return answerIdempotently(
        request,
        reply,
        async (ctx) => {
          refuseMissingDefinition(ctx, request.body.responseType, 'Add the question without responseType, then send')
          const questionId = await addQuestion(ctx, assessmentId, toNewQuestion(request.body))
          return { status: 201, body: await read(ctx, { assessmentId, questionId }) }
        },
        ({ question }) => `${app.prefix}/assessments/${assessmentId}/questions/${question.id}`,
      )
    },
  )
}

/** Without a definition, candidates would answer the question by a text. */
function refuseMissingDefinition({ deps }: Context, responseType = '', advice = 'Send'): void {
  if (!deps.kinds.get(responseType)) return
  const text = `responseType ${responseType} needs a definition. ${advice} responseType, spec and key by PUT …/questions/{questionId}/definition`
  refuse([{ field: 'responseType', rule: 'malformed', text }])
}

function changingRoutes(app: TypedApp): void {
  app.patch(
    '/assessments/:assessmentId/questions/:questionId',
    {
      schema: {
        ...managing,
        tags,
        operationId: 'updateQuestion',
        scope: 'assessments:write',
        summary: 'Change a question',
        description:
          'What is left out stays, also in papers that candidates have begun. A kind that scores itself comes by `PUT …/definition`, not as responseType; another responseType drops the definition.',
        params,
        body: QuestionChangeBody,
        response: { 200: OneQuestion },
        errors: [...errors, 'changed_meanwhile'],
      },
    },
    async ({ ctx, params, body }) => {
      const { responseType } = await getQuestion(ctx, params)
      if (body.responseType !== responseType) refuseMissingDefinition(ctx, body.responseType)
      await tellConflicts(changeQuestion(ctx, params, toQuestionChange(body), toSeen(body)))
      return read(ctx, params)
    },
  )

  app.post(
    '/assessments/:assessmentId/questions/:questionId/move',
    {
      schema: {
        ...managing,
        tags,
        operationId: 'moveQuestion',
        scope: 'assessments:write',
        summary: 'Move a question',
        description: 'To another place among the questions, which are then numbered from 1. Sent again it changes nothing.',
        params,
        headers: IdempotencyHeaders,
        body: QuestionPlaceBody,
        response: { 200: MovedQuestion },
        errors: [...errors, 'changed_meanwhile'],
      },
    },
    async (request, reply) => {
      const { body, params } = request
      return answerIdempotently(request, reply, async (ctx) => {
        await tellConflicts(moveQuestion(ctx, params, { place: body.place, order: body.order }))
        return { status: 200, body: await read(ctx, params) }
      })
    },
  )

  app.delete(
    '/assessments/:assessmentId/questions/:questionId',
    {
      schema: {
        ...managing,
        tags,
        operationId: 'deleteQuestion',
        scope: 'assessments:write',
        summary: 'Delete a question',
        description: 'For good, but not from papers that candidates have begun. Answers with the question as it was.',
        params,
        response: { 200: OneQuestion },
        errors,
      },
    },
    async ({ ctx, params }) => {
      const deleted = await read(ctx, params)
      await deleteQuestion(ctx, params)
      return deleted
    },
  )
}

function definingRoutes(app: TypedApp): void {
  const path = '/assessments/:assessmentId/questions/:questionId/definition'
  app.get(
    path,
    {
      schema: {
        tags,
        operationId: 'getQuestionDefinition',
        scope: 'assessments:read',
        summary: 'Get the definition of a question',
        description:
          'What a question shows that scores itself: options, a unit. What is right is not told. A question that is answered by a text or a recording has none.',
        params,
        response: { 200: OneDefinition },
        hasEtag: true,
        errors: ['question_not_found'],
      },
    },
    async ({ ctx, params }) => presentDefinition(await getDefinition(ctx, params)),
  )

  app.put(
    path,
    {
      schema: {
        ...managing,
        tags,
        operationId: 'putQuestionDefinition',
        scope: 'assessments:write',
        summary: 'Define a question',
        description:
          'Makes it a question that scores itself: one or several choices, a number, a short text. Its answers are scored when they are handed in; what a grader gives stands before that. What was asked already stays as it was for those candidates. Sent again it changes nothing.',
        params,
        body: DefinitionBody,
        response: { 200: OneDefinition },
        errors,
      },
    },
    async ({ ctx, params, body }) => {
      await defineQuestion(ctx, params, toDefinition(body))
      return presentDefinition(await getDefinition(ctx, params))
    },
  )
}

import { Type } from '@sinclair/typebox'
import { defineQuestion, getDefinition } from '../../domain/assessments/define-question.ts'
import { addQuestion, changeQuestion, deleteQuestion } from '../../domain/assessments/edit-questions.ts'
import { moveQuestion } from '../../domain/assessments/order-questions.ts'
import { getQuestion, type QuestionRef } from '../../domain/assessments/questions.ts'
import type { Context } from '../../domain/context.ts'
import { throwIfIssues } from '../../domain/validation/throw-if-issues.ts'
import { answerIdempotently, IdempotencyHeaders } from '../../http/requests/idempotency.ts'
import type { TypedApp } from '../../http/requests/typed-app.ts'
import { AssessmentParams, managing } from './assessment-settings.routes.ts'
import { toSeenTime } from './assessment-settings.view.ts'
import { reportConflicts } from './conflicts.ts'
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

/** Beyond v1.md: reads, adds, changes, moves, and deletes questions, for keys with the right to manage. */
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
          'Adds a question after the last. It asks with a script, an audio, or a video; audio and video need an address. Add an auto-scored question without responseType; `PUT …/definition` sets it.',
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
  throwIfIssues([{ field: 'responseType', rule: 'malformed', text }])
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
          'Omitted fields stay. Candidates who have started keep the question as it was. `PUT …/definition` sets an auto-scored kind, not responseType; another responseType removes the definition.',
        params,
        body: QuestionChangeBody,
        response: { 200: OneQuestion },
        errors: [...errors, 'changed_meanwhile'],
      },
    },
    async ({ ctx, params, body }) => {
      const { responseType } = await getQuestion(ctx, params)
      if (body.responseType !== responseType) refuseMissingDefinition(ctx, body.responseType)
      await reportConflicts(changeQuestion(ctx, params, toQuestionChange(body), toSeenTime(body)))
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
        description: 'Moves the question to another place. The questions are then numbered from 1. Repeating it changes nothing.',
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
        await reportConflicts(moveQuestion(ctx, params, { place: body.place, order: body.order }))
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
        description: 'Deletes the question permanently; candidates who have started keep it. Returns the deleted question.',
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
          'The visible part of an auto-scored question, such as options or a unit, without the right answer. A question answered by a text or a recording has none.',
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
          'Makes a question auto-scored: single or multiple choice, number, short text, or matching. Answers are scored when they are submitted; a grader’s points take precedence. Candidates who have started keep the question as it was. Repeating it changes nothing.',
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

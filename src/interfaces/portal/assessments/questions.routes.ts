import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { getDefinition } from '../../../domain/assessments/define-question.ts'
import {
  addQuestion,
  deleteQuestion,
  duplicateQuestion,
  toQuestionInput,
  updateQuestion,
} from '../../../domain/assessments/edit-questions.ts'
import { moveQuestion, orderQuestions } from '../../../domain/assessments/order-questions.ts'
import type { QuestionInput } from '../../../domain/assessments/question-input.ts'
import { getQuestion, type QuestionRef } from '../../../domain/assessments/questions.ts'
import { addDefinedQuestion, readDefinitionToWrite, updateDefinedQuestion } from '../../../domain/assessments/write-question.ts'
import { authorize } from '../../../domain/authorization/permissions.ts'
import { compareToNewest, findOrigin } from '../../../domain/library/add-from-library.ts'
import { MAX_PAGE_SIZE } from '../../../domain/limits.ts'
import { readNumber, readQuestion } from '../../../http/forms/read-form.ts'
import { permissionsPolicy } from '../../../http/pages/security-headers.ts'
import { emptyForm, type Form, issuesOf, readFields, readSeen, submit, valuesOf } from '../kit/forms.ts'
import { formatIssue } from '../kit/issue-messages.ts'
import { type Page, pathOf, show } from '../kit/layout.ts'
import { submitOnce } from '../kit/once.ts'
import { queryOf } from '../kit/paging.ts'
import { readUploads } from '../kit/uploads.ts'
import { requireRight } from '../sign-in/turn-away.ts'
import { type AssessmentRoute, readAssessmentFacts, showAssessment } from './assessments.routes.ts'
import { differencePage } from './difference.page.ts'
import {
  applyRowChange,
  changesRows,
  createKindPart,
  DEFINITION_HASH_FIELD,
  readKindDefinition,
  resolveResponseType,
  toKindPart,
} from './kind-form.ts'
import { MAX_TYPED_CHARACTERS, QUESTION_BODY_LIMIT, withPicture } from './picture-field.ts'
import { editQuestionPage, newQuestionPage } from './questions.page.ts'
import { applyPreset, readRubricFields } from './rubric.form.ts'

type QuestionRoute = { Params: QuestionRef }

/** The form records audio and video. */
const RECORDING_POLICY = permissionsPolicy(['camera', 'microphone'])

const newPage = async (request: FastifyRequest, assessmentId: string, form: Form) => {
  const { answer, preset, done } = readFields(queryOf(request), 'answer', 'preset', 'done')
  const facts = await readAssessmentFacts(request, assessmentId)
  const responseType = resolveResponseType(form.values.get('responseType') ?? answer, facts.assessment.defaultAnswerFormat)
  const kind = createKindPart(request.ctx, responseType, preset, form.values)
  return newQuestionPage(form, facts, { responseType, kind, added: done === 'question-added' })
}

const editPage = async (request: FastifyRequest, ref: QuestionRef, form: Form) => {
  const question = await getQuestion(request.ctx, ref)
  const definition = await readDefinitionToWrite(request.ctx, ref)
  const kind = definition && toKindPart(request.ctx, definition, form.values)
  const origin = await findOrigin(request.ctx, question)
  return editQuestionPage(form, await readAssessmentFacts(request, ref.assessmentId), {
    question,
    input: toQuestionInput(question),
    kind,
    origin,
    keyPath: (await getDefinition(request.ctx, ref))?.isSealed ? pathOf(request.ctx, `keys/${question.versionId}`) : null,
  })
}

const pathTo = ({ ctx }: FastifyRequest, { assessmentId }: { assessmentId: string }): string =>
  pathOf(ctx, `assessments/${assessmentId}`)

const pathAfter = (request: FastifyRequest, assessment: { assessmentId: string }, done: string): string =>
  `${pathTo(request, assessment)}?done=question-${done}`

export function questionsRoutes(app: FastifyInstance): void {
  app.get<AssessmentRoute>('/assessments/:assessmentId/questions/new', async (request, reply) => {
    authorize(request.ctx, 'write_assessments')
    reply.header('permissions-policy', RECORDING_POLICY)
    return show(request, reply, await newPage(request, request.params.assessmentId, emptyForm))
  })

  app.get<QuestionRoute>('/assessments/:assessmentId/questions/:questionId', async (request, reply) => {
    authorize(request.ctx, 'write_assessments')
    reply.header('permissions-policy', RECORDING_POLICY)
    return show(request, reply, await editPage(request, request.params, emptyForm))
  })

  app.get<QuestionRoute>('/assessments/:assessmentId/questions/:questionId/library/difference', async (request, reply) => {
    const { ctx, params } = request
    const path = `${pathTo(request, params)}/questions/${params.questionId}`
    return show(request, reply, differencePage(ctx, path, await compareToNewest(ctx, params)))
  })

  app.register(async (uploads) => questionFormRoutes(uploads))

  app.post<QuestionRoute>('/assessments/:assessmentId/questions/:questionId/duplicate', (request, reply) =>
    submitOnce(request, reply, {
      page: (form) => showAssessment(request, request.params.assessmentId, form),
      async work(ctx) {
        const id = await duplicateQuestion(ctx, request.params)
        return `${pathAfter(request, request.params, 'duplicated')}#question-${id}`
      },
    }),
  )

  app.post<QuestionRoute>('/assessments/:assessmentId/questions/:questionId/delete', (request, reply) =>
    submit(request, reply, {
      page: (form) => editPage(request, request.params, form),
      async work() {
        await deleteQuestion(request.ctx, request.params)
        return pathAfter(request, request.params, 'deleted')
      },
    }),
  )
  orderRoutes(app)
}

/** Forms of questions, which may upload a picture. */
function questionFormRoutes(app: FastifyInstance): void {
  // Checked before the body is read: it may be megabytes.
  requireRight(app, 'write_assessments')
  readUploads(app, 'picture', MAX_TYPED_CHARACTERS)
  const options = { bodyLimit: QUESTION_BODY_LIMIT }

  app.post<AssessmentRoute>('/assessments/:assessmentId/questions', options, async (request, reply) => {
    const { assessmentId } = request.params
    const page = (form: Form) => newPage(request, assessmentId, form)
    return withPicture(request, reply, page, async (sent) => {
      if (changesRows(valuesOf(request))) return showRows(request, reply, page)
      return submitOnce(request, reply, {
        page,
        sent,
        async work(ctx, values) {
          const input = readInput(values)
          const kind = readKindDefinition(values)
          await (kind ? addDefinedQuestion(ctx, assessmentId, { input, ...kind }) : addQuestion(ctx, assessmentId, input))
          return afterSaving(request, request.params, values, 'added')
        },
      })
    })
  })

  app.post<QuestionRoute>('/assessments/:assessmentId/questions/:questionId', options, async (request, reply) => {
    const { ctx, params } = request
    const page = (form: Form) => editPage(request, params, form)
    return withPicture(request, reply, page, async () => {
      if (changesRows(valuesOf(request))) return showRows(request, reply, page)
      return submit(request, reply, {
        page,
        async work(values) {
          const [input, kind, question] = [readInput(values), readKindDefinition(values), readSeen(values)]
          const seenState = { question, definition: values.get(DEFINITION_HASH_FIELD) ?? '' }
          await (kind
            ? updateDefinedQuestion(ctx, params, { input, ...kind }, seenState)
            : updateQuestion(ctx, params, input, question))
          return afterSaving(request, params, values, 'saved')
        },
      })
    })
  })
}

/** Shows the form after a row was added, moved, or removed. Nothing is saved. */
async function showRows(request: FastifyRequest, reply: FastifyReply, page: (form: Form) => Promise<Page>) {
  authorize(request.ctx, 'write_assessments')
  const values = applyPreset(request.ctx, valuesOf(request))
  return show(request, reply, await page(applyRowChange(request.ctx, values)))
}

/** Kinds that score themselves have rows of their own, and no rubric. */
const readInput = (values: URLSearchParams): QuestionInput => ({ ...readQuestion(values), ...readRubricFields(values) })

/** The list, or the form of another new question of the same type. */
function afterSaving(
  request: FastifyRequest,
  assessment: { assessmentId: string },
  values: URLSearchParams,
  done: string,
): string {
  if (values.get('next') !== 'another') return pathAfter(request, assessment, done)
  const query = new URLSearchParams({ done: `question-${done}`, answer: values.get('responseType') ?? '' })
  return `${pathTo(request, assessment)}/questions/new?${query}`
}

function orderRoutes(app: FastifyInstance): void {
  app.post<QuestionRoute>('/assessments/:assessmentId/questions/:questionId/move', (request, reply) =>
    submit(request, reply, {
      // The position is typed on the question's page; the up and down buttons are on the assessment's page.
      page: (form) =>
        form.issues.some(({ field }) => field === 'place')
          ? editPage(request, request.params, form)
          : showAssessment(request, request.params.assessmentId, form),
      async work(values) {
        const [place, order] = [readNumber(values, 'place'), readNumber(values, 'order')]
        const newPlace = await moveQuestion(request.ctx, request.params, { place, order })
        return `${pathAfter(request, request.params, 'moved')}&page=${Math.ceil(newPlace / MAX_PAGE_SIZE)}#question-${request.params.questionId}`
      },
    }),
  )

  // Called by the script of the list: ids separated by spaces. Answers 202 if the order is another because a pool stays together, and 409 if
  // it has changed meanwhile.
  app.post<AssessmentRoute>('/assessments/:assessmentId/order', { bodyLimit: ORDER_BODY_LIMIT }, async (request, reply) => {
    const { seen, wanted } = readFields(valuesOf(request), 'seen', 'wanted')
    try {
      const lists = { seen: idsIn(seen), wanted: idsIn(wanted) }
      const isAsWanted = await orderQuestions(request.ctx, request.params.assessmentId, lists)
      return reply.code(isAsWanted ? 200 : 202).send({})
    } catch (error) {
      const issues = issuesOf(error)
      const isRefused = seen === '' || issues.some(({ rule }) => rule !== 'changed')
      return reply.code(isRefused ? 422 : 409).send({ mistakes: issues.map(formatIssue) })
    }
  })
}

/** Two lists of the ids of one page. */
const ORDER_BODY_LIMIT = 2 * MAX_PAGE_SIZE * 40 + 1_024

const idsIn = (text: string): string[] => text.split(' ').filter((id) => id !== '')

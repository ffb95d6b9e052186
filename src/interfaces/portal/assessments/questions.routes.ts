import type { FastifyInstance, FastifyRequest } from 'fastify'
import { authorize } from '../../../domain/access/permissions.ts'
import { getAssessment } from '../../../domain/assessments/assessments.ts'
import { readCautions } from '../../../domain/assessments/cautions.ts'
import {
  addQuestion,
  deleteQuestion,
  moveQuestion,
  toQuestionInput,
  updateQuestion,
} from '../../../domain/assessments/edit-questions.ts'
import { getQuestion, type QuestionRef } from '../../../domain/assessments/questions.ts'
import { MAX_PAGE_SIZE } from '../../../domain/limits.ts'
import { emptyForm, type Form, readSeen, submit } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { submitOnce } from '../kit/once.ts'
import { readNumber } from '../kit/read-typed.ts'
import { type AssessmentRoute, showAssessment } from './assessments.routes.ts'
import { editQuestionPage, newQuestionPage, readQuestion } from './questions.page.ts'

type QuestionRoute = { Params: QuestionRef }

export function questionsRoutes(app: FastifyInstance): void {
  const newPage = async ({ ctx }: FastifyRequest, assessmentId: string, form: Form) => {
    const assessment = await getAssessment(ctx, assessmentId)
    return newQuestionPage(form, { ctx, assessment, open: (await readCautions(ctx, assessment)).open })
  }
  const editPage = async ({ ctx }: FastifyRequest, ref: QuestionRef, form: Form) => {
    const question = await getQuestion(ctx, ref)
    const assessment = await getAssessment(ctx, ref.assessmentId)
    const { open } = await readCautions(ctx, assessment)
    return editQuestionPage(form, { ctx, assessment, question, open, input: toQuestionInput(question) })
  }
  const after = ({ ctx }: FastifyRequest, { assessmentId }: { assessmentId: string }, done: string) =>
    `${pathOf(ctx, `assessments/${assessmentId}`)}?done=question-${done}`

  app.get<AssessmentRoute>('/assessments/:assessmentId/questions/new', async (request, reply) => {
    authorize(request.ctx, 'write_assessments')
    return show(request, reply, await newPage(request, request.params.assessmentId, emptyForm))
  })

  app.post<AssessmentRoute>('/assessments/:assessmentId/questions', (request, reply) =>
    submitOnce(request, reply, {
      page: (form) => newPage(request, request.params.assessmentId, form),
      async work(ctx, values) {
        await addQuestion(ctx, request.params.assessmentId, readQuestion(values))
        return after(request, request.params, 'added')
      },
    }),
  )

  app.get<QuestionRoute>('/assessments/:assessmentId/questions/:questionId', async (request, reply) => {
    authorize(request.ctx, 'write_assessments')
    return show(request, reply, await editPage(request, request.params, emptyForm))
  })

  app.post<QuestionRoute>('/assessments/:assessmentId/questions/:questionId', (request, reply) =>
    submit(request, reply, {
      page: (form) => editPage(request, request.params, form),
      async work(values) {
        await updateQuestion(request.ctx, request.params, readQuestion(values), readSeen(values))
        return after(request, request.params, 'saved')
      },
    }),
  )

  app.post<QuestionRoute>('/assessments/:assessmentId/questions/:questionId/move', (request, reply) =>
    submit(request, reply, {
      // The place is typed into the question's page; Up and Down are on that of the assessment.
      page: (form) =>
        form.issues.some(({ field }) => field === 'place')
          ? editPage(request, request.params, form)
          : showAssessment(request, request.params.assessmentId, form),
      async work(values) {
        const [place, order] = [readNumber(values, 'place'), readNumber(values, 'order')]
        const moved = await moveQuestion(request.ctx, request.params, { place, order })
        return `${after(request, request.params, 'moved')}&page=${Math.ceil(moved / MAX_PAGE_SIZE)}#question-${request.params.questionId}`
      },
    }),
  )

  app.post<QuestionRoute>('/assessments/:assessmentId/questions/:questionId/delete', (request, reply) =>
    submit(request, reply, {
      page: (form) => editPage(request, request.params, form),
      async work() {
        await deleteQuestion(request.ctx, request.params)
        return after(request, request.params, 'deleted')
      },
    }),
  )
}

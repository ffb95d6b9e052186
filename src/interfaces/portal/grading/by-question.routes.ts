import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Context } from '../../../domain/context.ts'
import { type AskedQuestion, findNumber } from '../../../domain/submissions/grading/answers-to-grade.ts'
import { findEqualAnswers, gradeEqualAnswers, MAX_EQUAL } from '../../../domain/submissions/grading/equal-answers.ts'
import { readGradingView } from '../../../domain/submissions/grading/grading-view.ts'
import { listQuestionsToGrade } from '../../../domain/submissions/grading/list-questions-to-grade.ts'
import { createGradingIssue, saveGrade } from '../../../domain/submissions/grading/save-grade.ts'
import { findNextAnswer, walkQuestion } from '../../../domain/submissions/grading/walk-question.ts'
import { throwIfIssues } from '../../../domain/validation/throw-if-issues.ts'
import { emptyForm, type Form, submit } from '../kit/forms.ts'
import { type Page, show } from '../kit/layout.ts'
import { answerPage, equalAnswersPage, questionsToGradePage, walkEndPage, walkPath } from './by-question.page.ts'
import { readGrade } from './grading.routes.ts'

type AssessmentRoute = { Params: { assessmentId: string } }
type WalkRoute = { Params: AskedQuestion }
type AnswerRoute = { Params: AskedQuestion & { submissionId: string } }

const WALK = '/grading/by-question/:assessmentId/:questionId/:wording'
const ANSWER = `${WALK}/:submissionId`

/** A grade, and the ids of the answers. */
const EQUAL_BODY_LIMIT = 64 * 1024 + MAX_EQUAL * 64

/** Grading of the answers to one question, one after the other. */
export function byQuestionRoutes(app: FastifyInstance): void {
  app.get<AssessmentRoute>('/grading/by-question/:assessmentId', async (request, reply) => {
    const { ctx, params } = request
    return show(request, reply, questionsToGradePage(ctx, await listQuestionsToGrade(ctx, params.assessmentId)))
  })

  app.get<WalkRoute>(WALK, async (request, reply) => show(request, reply, await toWalkPage(request, emptyForm)))

  app.get<AnswerRoute>(ANSWER, async (request, reply) =>
    show(request, reply, await toWalkPage(request, emptyForm, request.params.submissionId)),
  )

  app.post<AnswerRoute>(ANSWER, (request, reply) =>
    submit(request, reply, {
      page: (form) => toWalkPage(request, form, request.params.submissionId),
      async work() {
        const { ctx, params: askedQuestion, body } = request
        const { submissionId } = askedQuestion
        const number = await findNumber(ctx, askedQuestion, submissionId)
        const { isSaved } = await saveGrade(ctx, readGrade({ submissionId, number: String(number) }, body))
        throwIfIssues(isSaved ? [] : [createGradingIssue('regraded')])
        return walkPath(ctx, askedQuestion, await findNextAnswer(ctx, askedQuestion, submissionId))
      },
    }),
  )

  app.get<AnswerRoute>(`${ANSWER}/equal`, async (request, reply) => show(request, reply, await toEqualPage(request, emptyForm)))

  app.post<AnswerRoute>(`${ANSWER}/equal`, { bodyLimit: EQUAL_BODY_LIMIT }, (request, reply) =>
    submit(request, reply, {
      page: (form) => toEqualPage(request, form),
      async work(values) {
        const { ctx, params: askedQuestion, body } = request
        const { submissionId } = askedQuestion
        const { points, comment, levels } = readGrade({ submissionId, number: '1' }, body)
        const submissionIds = values.getAll('submission')
        await gradeEqualAnswers(ctx, askedQuestion, { submissionId, submissionIds, grade: { points, comment, levels } })
        return walkPath(ctx, askedQuestion)
      },
    }),
  )
}

async function toWalkPage(request: FastifyRequest<WalkRoute>, form: Form, submissionId?: string): Promise<Page> {
  const { ctx, params: askedQuestion } = request
  const walk = await walkQuestion(ctx, askedQuestion, submissionId)
  if (walk.current === undefined) return walkEndPage(ctx, askedQuestion, walk)
  const isFailed = form.issues.length > 0
  return answerPage(form, { ctx, askedQuestion, walk, isFailed, ...(await readAnswer(ctx, askedQuestion, walk.current)) })
}

async function toEqualPage(request: FastifyRequest<AnswerRoute>, form: Form): Promise<Page> {
  const { ctx, params: askedQuestion } = request
  const equal = await findEqualAnswers(ctx, askedQuestion, askedQuestion.submissionId)
  const isFailed = form.issues.length > 0
  return equalAnswersPage(form, {
    ctx,
    askedQuestion,
    equal,
    isFailed,
    ...(await readAnswer(ctx, askedQuestion, askedQuestion.submissionId)),
  })
}

async function readAnswer(ctx: Context, askedQuestion: AskedQuestion, submissionId: string) {
  const number = await findNumber(ctx, askedQuestion, submissionId)
  const view = await readGradingView(ctx, submissionId)
  return { view, question: view.questions.find((question) => question.number === number)! }
}

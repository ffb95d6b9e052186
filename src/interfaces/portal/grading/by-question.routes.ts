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
        const { ctx, params: asked, body } = request
        const { submissionId } = asked
        const number = await findNumber(ctx, asked, submissionId)
        const { isSaved } = await saveGrade(ctx, readGrade({ submissionId, number: String(number) }, body))
        throwIfIssues(isSaved ? [] : [createGradingIssue('regraded')])
        return walkPath(ctx, asked, await findNextAnswer(ctx, asked, submissionId))
      },
    }),
  )

  app.get<AnswerRoute>(`${ANSWER}/equal`, async (request, reply) => show(request, reply, await toEqualPage(request, emptyForm)))

  app.post<AnswerRoute>(`${ANSWER}/equal`, { bodyLimit: EQUAL_BODY_LIMIT }, (request, reply) =>
    submit(request, reply, {
      page: (form) => toEqualPage(request, form),
      async work(values) {
        const { ctx, params: asked, body } = request
        const { submissionId } = asked
        const { points, comment, levels } = readGrade({ submissionId, number: '1' }, body)
        const submissionIds = values.getAll('submission')
        await gradeEqualAnswers(ctx, asked, { submissionId, submissionIds, grade: { points, comment, levels } })
        return walkPath(ctx, asked)
      },
    }),
  )
}

async function toWalkPage(request: FastifyRequest<WalkRoute>, form: Form, submissionId?: string): Promise<Page> {
  const { ctx, params: asked } = request
  const walk = await walkQuestion(ctx, asked, submissionId)
  if (walk.current === undefined) return walkEndPage(ctx, asked, walk)
  const isFailed = form.issues.length > 0
  return answerPage(form, { ctx, asked, walk, isFailed, ...(await readAnswer(ctx, asked, walk.current)) })
}

async function toEqualPage(request: FastifyRequest<AnswerRoute>, form: Form): Promise<Page> {
  const { ctx, params: asked } = request
  const equal = await findEqualAnswers(ctx, asked, asked.submissionId)
  const isFailed = form.issues.length > 0
  return equalAnswersPage(form, { ctx, asked, equal, isFailed, ...(await readAnswer(ctx, asked, asked.submissionId)) })
}

async function readAnswer(ctx: Context, asked: AskedQuestion, submissionId: string) {
  const number = await findNumber(ctx, asked, submissionId)
  const view = await readGradingView(ctx, submissionId)
  return { view, question: view.questions.find((question) => question.number === number)! }
}

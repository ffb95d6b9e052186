import type { FastifyInstance } from 'fastify'
import type { Context } from '../../domain/context.ts'
import { saveGrade } from '../../domain/submissions/grading/grade.ts'
import { type Sheet, stayAtSheet } from '../../domain/submissions/grading/sheet.ts'
import { toText } from '../../http/html.ts'
import { issuesOf } from './forms.ts'
import { type QuestionRoute, readGrade } from './grading.routes.ts'
import { sheetParts } from './grading-sheet.parts.ts'
import { wordIssue } from './wording.ts'

type Route = { Params: { submissionId: string } }

/** What the script of the sheet sends, as its forms would. The status says what became of it: 409 of a grade that is not the newest. */
export function gradingScriptRoutes(app: FastifyInstance): void {
  app.post<QuestionRoute>('/grading/:submissionId/questions/:number/save', async ({ ctx, params, body }, reply) => {
    try {
      const { isSaved, own, others, seen } = await saveGrade(ctx, readGrade(params, body))
      if (!isSaved) return reply.code(409).send({ seen, points: own?.points ?? null, comment: own?.comment ?? '' })
      const names = [...new Set(others.map(({ name }) => name))]
      return reply.send({ seen, others: names, ...toAnswer(ctx, await stayAtSheet(ctx, params.submissionId)) })
    } catch (error) {
      return reply.code(422).send({ mistakes: issuesOf(error).map(wordIssue) })
    }
  })

  app.post<Route>('/grading/:submissionId/viewers', { config: { isUnattended: true } }, async ({ ctx, params }, reply) =>
    reply.send(toAnswer(ctx, await stayAtSheet(ctx, params.submissionId))),
  )
}

/** What the page shows of the grades that there are now. */
const toAnswer = (ctx: Context, sheet: Sheet) => ({
  isReleased: sheet.submission.state === 'released',
  parts: Object.fromEntries(sheetParts(ctx, sheet).map(([name, part]) => [name, toText(part)])),
})

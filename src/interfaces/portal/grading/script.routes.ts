import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { MAX_COMMENT_LENGTH } from '../../../domain/limits.ts'
import { saveGrade } from '../../../domain/submissions/grading/save-grade.ts'
import { type Sheet, stayAtSheet } from '../../../domain/submissions/grading/sheet.ts'
import { toText } from '../../../html/html.ts'
import { issuesOf, readFields } from '../kit/forms.ts'
import { wordIssue } from '../kit/issue-words.ts'
import { type QuestionRoute, readGrade } from './grading.routes.ts'
import { sheetParts } from './sheet.parts.ts'
import { queueQuery, workedQueueOf } from './worked-queue.ts'

/** A comment, of as many bytes as a form takes for it, and beside the other fields the parts of a sheet of more than a thousand questions. */
const SAVE_BODY_LIMIT = MAX_COMMENT_LENGTH * 12 + 128 * 1024

type Route = { Params: { submissionId: string } }

/** What the script of the sheet sends, as its forms would. The status says what became of it: 409 of a grade that is not the newest. */
export function gradingScriptRoutes(app: FastifyInstance): void {
  app.post<QuestionRoute>(
    '/grading/:submissionId/questions/:number/save',
    { bodyLimit: SAVE_BODY_LIMIT },
    async (request, reply) => {
      const { ctx, params, body } = request
      try {
        const { isSaved, own, others, seen } = await saveGrade(ctx, readGrade(params, body))
        if (!isSaved) return reply.code(409).send({ seen, points: own?.points ?? null, comment: own?.comment ?? '' })
        const names = [...new Set(others.map(({ name }) => name))]
        return reply.send({ seen, others: names, ...toAnswer(request, await stayAtSheet(ctx, params.submissionId)) })
      } catch (error) {
        return reply.code(422).send({ mistakes: issuesOf(error).map(wordIssue) })
      }
    },
  )

  app.post<Route>('/grading/:submissionId/viewers', { config: { isUnattended: true } }, async (request, reply) =>
    reply.send(toAnswer(request, await stayAtSheet(request.ctx, request.params.submissionId))),
  )
}

/** What the page is to show of the grades that there are now, without the parts that it shows already, by their tags: `name:tag name:tag`. */
function toAnswer(request: FastifyRequest, sheet: Sheet) {
  const { ctx, body } = request
  const { shown } = readFields(body instanceof URLSearchParams ? body : new URLSearchParams(), 'shown')
  const known = new Set(shown.split(' '))
  const parts = sheetParts(ctx, sheet, queueQuery(workedQueueOf(request))).map(([name, part]) => {
    const text = toText(part)
    return [name, { tag: hash('sha256', text, 'base64url').slice(0, 12), text }] as const
  })
  const changed = parts.filter(([name, { tag }]) => !known.has(`${name}:${tag}`))
  return { isReleased: sheet.submission.state === 'released', parts: Object.fromEntries(changed) }
}

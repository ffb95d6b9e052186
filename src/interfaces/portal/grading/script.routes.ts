import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { MAX_COMMENT_LENGTH } from '../../../domain/limits.ts'
import { readAndRecordGradingView, type SubmissionGradingView } from '../../../domain/submissions/grading/grading-view.ts'
import { addNote } from '../../../domain/submissions/grading/notes.ts'
import { saveGrade } from '../../../domain/submissions/grading/save-grade.ts'
import { toText } from '../../../html/html.ts'
import { issuesOf, readFields } from '../kit/forms.ts'
import { formatIssue } from '../kit/issue-messages.ts'
import { type QuestionRoute, readGrade } from './grading.routes.ts'
import { readNote } from './notes.routes.ts'
import { sheetParts } from './sheet.parts.ts'
import { queueQuery, workedQueueOf } from './worked-queue.ts'

/** One comment with 12 bytes per form-encoded character, and the tags of the parts of more than a thousand questions. */
const SAVE_BODY_LIMIT = MAX_COMMENT_LENGTH * 12 + 128 * 1024

type Route = { Params: { submissionId: string } }

/** Takes the forms of the grading view from its script. Answers 409 if a grade has changed meanwhile. */
export function gradingScriptRoutes(app: FastifyInstance): void {
  app.post<QuestionRoute>(
    '/grading/:submissionId/questions/:number/save',
    { bodyLimit: SAVE_BODY_LIMIT },
    async (request, reply) => {
      const { ctx, params, body } = request
      try {
        const { isSaved, ownGrade, otherGrades, seen } = await saveGrade(ctx, readGrade(params, body))
        if (!isSaved) {
          const { points = null, comment = '', levels = [] } = ownGrade ?? {}
          return reply.code(409).send({ seen, points, comment, levels: levels.join(' ') })
        }
        const names = [...new Set(otherGrades.map(({ name }) => name))]
        return reply.send({ seen, others: names, ...toAnswer(request, await readAndRecordGradingView(ctx, params.submissionId)) })
      } catch (error) {
        return reply.code(422).send({ mistakes: issuesOf(error).map(formatIssue) })
      }
    },
  )

  app.post<Route>('/grading/:submissionId/notes/save', async (request, reply) => {
    const { ctx, params, body } = request
    const values = body instanceof URLSearchParams ? body : new URLSearchParams()
    try {
      await addNote(ctx, readNote(params.submissionId, values))
    } catch (error) {
      return reply.code(422).send({ mistakes: issuesOf(error).map(formatIssue) })
    }
    const sheet = await readAndRecordGradingView(ctx, params.submissionId)
    return reply.send({ nextId: ctx.deps.newId(), ...toAnswer(request, sheet) })
  })

  app.post<Route>('/grading/:submissionId/viewers', { config: { isUnattended: true } }, async (request, reply) =>
    reply.send(toAnswer(request, await readAndRecordGradingView(request.ctx, request.params.submissionId))),
  )
}

/** Parts of the view that differ from those on the page. The request has the tags of the parts shown: `name:tag name:tag`. */
function toAnswer(request: FastifyRequest, sheet: SubmissionGradingView) {
  const { ctx, body } = request
  const { shown } = readFields(body instanceof URLSearchParams ? body : new URLSearchParams(), 'shown')
  const shownNumbers = new Set(shown.split(' '))
  const parts = sheetParts(ctx, sheet, queueQuery(workedQueueOf(request))).map(([name, part]) => {
    const text = toText(part)
    return [name, { tag: hash('sha256', text, 'base64url').slice(0, 12), text }] as const
  })
  const changedParts = parts.filter(([name, { tag }]) => !shownNumbers.has(`${name}:${tag}`))
  return { isReleased: sheet.submission.state === 'released', parts: Object.fromEntries(changedParts) }
}

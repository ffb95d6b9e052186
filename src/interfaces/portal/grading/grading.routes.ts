import type { FastifyInstance, FastifyRequest } from 'fastify'
import { authorize, may } from '../../../domain/authorization/permissions.ts'
import { DomainError } from '../../../domain/errors.ts'
import { listGraderChoices } from '../../../domain/invites/form-options.ts'
import { MAX_COMMENT_LENGTH, MAX_INTEGER } from '../../../domain/limits.ts'
import { findNoteCategories } from '../../../domain/organization/note-categories.ts'
import type { GraderSlot } from '../../../domain/submissions/grading/graded-submission.ts'
import { listGrades } from '../../../domain/submissions/grading/grades.ts'
import { readGradingView } from '../../../domain/submissions/grading/grading-view.ts'
import { countQueues, listQueue, listQueuedAssessments } from '../../../domain/submissions/grading/queue.ts'
import { findQueuePlace } from '../../../domain/submissions/grading/queue-place.ts'
import { GRADER_FIELDS, reassignGrader, takeGraderSlot } from '../../../domain/submissions/grading/reassign-grader.ts'
import { releaseResult, reopenResult } from '../../../domain/submissions/grading/release-result.ts'
import { createGradingIssue, type NewGrade, saveGrade } from '../../../domain/submissions/grading/save-grade.ts'
import { offersSearch } from '../../../domain/submissions/grading/search-transcripts.ts'
import { hasGradingLanguages } from '../../../domain/submissions/grading/waiting-submissions.ts'
import { throwIfIssues } from '../../../domain/validation/throw-if-issues.ts'
import { HttpError } from '../../../http/errors/failure.ts'
import { readNameFilter } from '../kit/choices.ts'
import { emptyForm, type Form, readFields, readSeen, submit } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { submitOnce } from '../kit/once.ts'
import { queryOf, readList, readPageNumber } from '../kit/paging.ts'
import { gradeHistoryPage } from './history.page.ts'
import { gradingPage } from './queue.page.ts'
import { releasePage } from './release.page.ts'
import { readLevels } from './rubric.parts.ts'
import { sheetPage } from './sheet.page.ts'
import { queueQuery, workedQueueOf } from './worked-queue.ts'

/** Two texts of {@link MAX_COMMENT_LENGTH} with 12 bytes per form-encoded character, and the other fields. */
const RELEASE_BODY_LIMIT = 2 * MAX_COMMENT_LENGTH * 12 + 8 * 1024

type Route = { Params: { submissionId: string } }
export type QuestionRoute = { Params: { submissionId: string; number: string } }
type PlaceRoute = { Params: { submissionId: string; place: string } }

export function gradingRoutes(app: FastifyInstance): void {
  app.get('/grading', async (request, reply) => {
    const { ctx } = request
    const query = queryOf(request)
    const canFilter = await hasGradingLanguages(ctx)
    const myLanguages = canFilter && query.get('languages') !== 'all'
    const queues = await countQueues(ctx, { myLanguages })
    const names = queues.map(({ queue }) => queue)
    const queue = names.find((queue) => queue === query.get('queue')) ?? (names.includes('all') ? 'all' : 'mine')
    const assessmentId = query.get('assessment') || undefined
    const filter = { queue, assessmentId, myLanguages }
    const queueCount = assessmentId === undefined ? queues.find((item) => item.queue === queue)?.count : undefined
    const { form, list } = await readList(request, (page) => listQueue(ctx, filter, page, queueCount))
    const assessments = await listQueuedAssessments(
      ctx,
      { queue, myLanguages },
      { named: readNameFilter(query), chosenIds: [assessmentId ?? ''] },
    )
    const canSearch = assessmentId !== undefined && (await offersSearch(ctx, assessmentId))
    const facts = { ctx, filter, canFilter, queues, assessments, list, done: query.get('done'), canSearch }
    return show(request, reply, gradingPage(form, facts))
  })

  app.get<Route>('/grading/:submissionId', async (request, reply) => {
    const query = queryOf(request)
    const saved = readNumber(query.get('saved') ?? '')
    const done = { saved, isShared: query.has('others'), done: query.get('done') ?? undefined }
    return show(request, reply, await onePage(request, emptyForm, { done }))
  })

  app.get<QuestionRoute>('/grading/:submissionId/questions/:number', async (request, reply) => {
    const { ctx, params } = request
    const question = { submissionId: params.submissionId, number: requireNumber(params) }
    const { list } = await readList(request, (page) => listGrades(ctx, question, page))
    return show(request, reply, gradeHistoryPage({ ctx, ...question, list }))
  })

  app.post<QuestionRoute>('/grading/:submissionId/questions/:number', (request, reply) => {
    const { ctx, params } = request
    const grade = readGrade(params, request.body)
    const { number } = grade
    return submit(request, reply, {
      page: (form) => onePage(request, form, { failed: number }),
      async work() {
        const { isSaved, otherGrades } = await saveGrade(ctx, grade)
        throwIfIssues(isSaved ? [] : [createGradingIssue('regraded')])
        const notices = { saved: String(number), ...(otherGrades.length > 0 && { others: 'yes' }) }
        return `${sheetPath(request, notices)}#question-${number}`
      },
    })
  })

  graderRoutes(app)
  releaseRoutes(app)
}

function graderRoutes(app: FastifyInstance): void {
  app.post<Route>('/grading/:submissionId/take-over', (request, reply) =>
    submit(request, reply, {
      page: (form) => onePage(request, form),
      async work() {
        await takeGraderSlot(request.ctx, request.params.submissionId)
        return sheetPath(request, { done: 'taken' })
      },
    }),
  )

  app.post<PlaceRoute>('/grading/:submissionId/hand-on/:place', (request, reply) => {
    const { ctx, params } = request
    const place = (['first', 'second'] satisfies GraderSlot[]).find((slot) => slot === params.place)
    if (!place) throw new DomainError('submission_not_found')
    return submit(request, reply, {
      page: (form) => onePage(request, form),
      async work(values) {
        const graderId = values.get(GRADER_FIELDS[place])
        // An empty field removes the grader; a missing field changes nothing.
        if (graderId === null) {
          await onePage(request, emptyForm) // throws not found for members who may not see it
          throw new HttpError('malformed_request')
        }
        await reassignGrader(ctx, params.submissionId, { place, graderId: graderId || null })
        return `${pathOf(ctx, 'grading')}?done=handed-on` // the queue, because they may no longer see the submission
      },
    })
  })
}

function releaseRoutes(app: FastifyInstance): void {
  app.get<Route>('/grading/:submissionId/release', async (request, reply) =>
    show(request, reply, await toRelease(request, emptyForm)),
  )

  app.post<Route>('/grading/:submissionId/release', { bodyLimit: RELEASE_BODY_LIMIT }, (request, reply) =>
    submitOnce(request, reply, {
      page: (form) => toRelease(request, form),
      async work(ctx, values) {
        const { submissionId } = request.params
        const { comment, message } = readFields(values, 'comment', 'message')
        const toCandidate = values.get('toCandidate') === 'yes'
        const withNotes = values.get('withNotes') === 'yes'
        const seenTime = values.get('seen') ?? undefined // not of the page of an earlier release
        await releaseResult(ctx, {
          submissionId,
          comment: comment.trim(),
          message: message.trim(),
          toCandidate,
          withNotes,
          seen: seenTime,
        })
        return pathAfter(request, 'released')
      },
    }),
  )

  app.post<Route>('/grading/:submissionId/reopen', (request, reply) =>
    submitOnce(request, reply, {
      page: (form) => (may(request.ctx, 'grade') ? onePage(request, form) : toRelease(request, form)),
      async work(ctx) {
        const { submissionId } = request.params
        await reopenResult(ctx, submissionId)
        return pathAfter(request, 'reopened')
      },
    }),
  )
}

/** The grading view, or the result for members who do not grade. */
const pathAfter = (request: FastifyRequest<Route>, done: string): string =>
  may(request.ctx, 'grade') ? sheetPath(request, { done }) : pathOf(request.ctx, `results/${request.params.submissionId}`)

export const sheetPath = (request: FastifyRequest<Route>, notices: Record<string, string>): string =>
  `${pathOf(request.ctx, `grading/${request.params.submissionId}`)}${queueQuery(workedQueueOf(request), notices)}`

type SheetOptions = Partial<Pick<Parameters<typeof sheetPage>[1], 'done' | 'failed'>>

export async function onePage(request: FastifyRequest<Route>, form: Form, { done = {}, ...shown }: SheetOptions = {}) {
  const { ctx, params } = request
  authorize(ctx, 'grade')
  const query = queryOf(request)
  const sheet = await readGradingView(ctx, params.submissionId, readPageNumber(query))
  const named = readNameFilter(query)
  const chosenIds = [sheet.submission.graderId ?? '', sheet.submission.secondGraderId ?? '']
  const graders = await listGraderChoices(ctx, { named, chosenIds })
  const worked = workedQueueOf(request)
  const place = await findQueuePlace(ctx, sheet.submission, worked)
  return sheetPage(form, {
    ctx,
    sheet,
    place,
    queue: queueQuery(worked),
    graders,
    categories: await findNoteCategories(ctx),
    named,
    done,
    ...shown,
  })
}

async function toRelease(request: FastifyRequest<Route>, form: Form) {
  const { ctx, params } = request
  const sheet = await readGradingView(ctx, params.submissionId)
  if (!sheet.mayRelease) throw new DomainError('submission_not_found')
  return releasePage(form, { ctx, sheet, queue: queueQuery(workedQueueOf(request)) })
}

/** @throws DomainError submission_not_found if the question's number is invalid. */
export function readGrade({ submissionId, number }: QuestionRoute['Params'], body: unknown): NewGrade {
  const values = body instanceof URLSearchParams ? body : new URLSearchParams()
  const { points, comment, stood } = readFields(values, 'points', 'comment', 'stood')
  return {
    submissionId,
    number: requireNumber({ number }),
    points: readPoints(points),
    stood: readPoints(stood),
    comment: comment.trim(),
    levels: readLevels(values),
    seen: readSeen(values),
  }
}

/** @throws DomainError submission_not_found. */
function requireNumber({ number }: Pick<QuestionRoute['Params'], 'number'>): number {
  const question = readNumber(number)
  if (question === undefined) throw new DomainError('submission_not_found')
  return question
}

/** @returns undefined if it is invalid. */
function readNumber(text: string): number | undefined {
  const number = /^\d{1,10}$/.test(text) ? Number(text) : 0
  return number >= 1 && number <= MAX_INTEGER ? number : undefined
}

/** Reads "3.5" or "3,5". @returns null if nothing was typed, NaN if it is no number. */
export function readPoints(text: string): number | null {
  const typed = text.trim().replace(',', '.')
  if (typed === '') return null
  return /^\d{1,10}(\.\d{1,3})?$/.test(typed) ? Number(typed) : Number.NaN
}

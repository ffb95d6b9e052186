import type { FastifyInstance, FastifyRequest } from 'fastify'
import { authorize, may } from '../../../domain/authorization/permissions.ts'
import { listAssessmentChoices } from '../../../domain/invites/form-options.ts'
import { addFromLibrary, updateToNewest } from '../../../domain/library/add-from-library.ts'
import { listCategories } from '../../../domain/library/categories.ts'
import type { LibraryVersion } from '../../../domain/library/library.ts'
import {
  changeLibraryQuestion,
  getLibraryQuestion,
  listUses,
  readLibraryVersion,
  retireLibraryQuestion,
} from '../../../domain/library/library.ts'
import { type LibraryFilter, listLibrary } from '../../../domain/library/list-library.ts'
import { saveAsVersion, saveToLibrary } from '../../../domain/library/save-to-library.ts'
import { MAX_FILTER_LENGTH } from '../../../domain/limits.ts'
import type { AnswerScoring } from '../../../domain/ports/question-kind.ts'
import { html } from '../../../html/html.ts'
import { readNameFilter } from '../kit/choices.ts'
import { emptyForm, type Form, mistakes, readFields, submit, valuesOf } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { submitOnce } from '../kit/once.ts'
import { pageSizeOf, queryOf } from '../kit/paging.ts'
import { libraryPage } from './library.page.ts'
import { libraryQuestionPage, NOTICES } from './library-question.page.ts'

type QuestionRoute = { Params: { libraryId: string } }
type AssessmentQuestionRoute = { Params: { assessmentId: string; questionId: string } }

export function readLibraryFilter(values: URLSearchParams): LibraryFilter {
  const fields = readFields(values, 'search', 'category', 'kind', 'unused', 'before', 'shown')
  return {
    search: fields.search.slice(0, MAX_FILTER_LENGTH),
    categoryId: fields.category || undefined,
    responseType: fields.kind,
    isUnused: fields.unused === 'yes',
    isRetired: fields.shown === 'retired',
    before: fields.before || undefined,
  }
}

/** The question library: writable with write access to assessments, readable for graders. */
export function libraryRoutes(app: FastifyInstance): void {
  app.get('/questions', async (request, reply) => {
    const { ctx } = request
    const query = queryOf(request)
    const filter = readLibraryFilter(query)
    const matches = await listLibrary(ctx, filter, pageSizeOf(request))
    const facts = { ctx, matches, filter, categories: await listCategories(ctx), query, notice: undefined }
    return show(request, reply, libraryPage({ values: query, issues: [] }, facts))
  })

  app.get<QuestionRoute>('/questions/:libraryId', async (request, reply) =>
    show(request, reply, await onePage(request, emptyForm)),
  )

  app.post<QuestionRoute>('/questions/:libraryId', (request, reply) =>
    submit(request, reply, {
      page: (form) => onePage(request, form),
      async work(values) {
        const { name, category } = readFields(values, 'name', 'category')
        await changeLibraryQuestion(request.ctx, request.params.libraryId, { name: name.trim(), category })
        return pathAfter(request, 'saved')
      },
    }),
  )

  app.post<QuestionRoute>('/questions/:libraryId/try', async (request, reply) => {
    const answer = valuesOf(request).getAll('answer')
    return show(request, reply, await onePage(request, emptyForm, answer))
  })

  for (const [verb, isRetired] of [
    ['retire', true],
    ['restore', false],
  ] as const)
    app.post<QuestionRoute>(`/questions/:libraryId/${verb}`, (request, reply) =>
      submit(request, reply, {
        page: (form) => onePage(request, form),
        async work() {
          await retireLibraryQuestion(request.ctx, request.params.libraryId, isRetired)
          return pathAfter(request, isRetired ? 'retired' : 'restored')
        },
      }),
    )

  app.post<QuestionRoute>('/questions/:libraryId/add', (request, reply) =>
    submitOnce(request, reply, {
      page: (form) => onePage(request, form),
      async work(ctx, values) {
        const { assessmentId } = readFields(values, 'assessmentId')
        const id = await addFromLibrary(ctx, request.params.libraryId, assessmentId)
        return `${pathOf(ctx, `assessments/${assessmentId}`)}?done=question-added#question-${id}`
      },
    }),
  )
  assessmentQuestionRoutes(app)
}

/** Links between an assessment's questions and the library. */
function assessmentQuestionRoutes(app: FastifyInstance): void {
  const works = {
    save: (request: FastifyRequest<AssessmentQuestionRoute>) => saveToLibrary(request.ctx, request.params),
    version: (request: FastifyRequest<AssessmentQuestionRoute>) => saveAsVersion(request.ctx, request.params),
    take: (request: FastifyRequest<AssessmentQuestionRoute>) => {
      const { seen, number } = readFields(valuesOf(request), 'seen', 'number')
      return updateToNewest(request.ctx, request.params, { mine: seen, number: Number(number) })
    },
  }
  for (const [verb, work] of Object.entries(works))
    app.post<AssessmentQuestionRoute>(`/assessments/:assessmentId/questions/:questionId/library/${verb}`, (request, reply) => {
      const path = pathOf(request.ctx, `assessments/${request.params.assessmentId}/questions/${request.params.questionId}`)
      return submit(request, reply, {
        page: (form) => ({
          title: 'The library',
          body: html`${mistakes(form)}<p><a href="${path}">Back to the question</a></p>`,
        }),
        async work() {
          await work(request)
          return path
        },
      })
    })
}

const pathAfter = ({ ctx, params }: FastifyRequest<QuestionRoute>, done: string): string =>
  `${pathOf(ctx, `questions/${params.libraryId}`)}?done=${done}`

/** @param answer values of the form that tries out an answer. */
async function onePage(request: FastifyRequest<QuestionRoute>, form: Form, answer?: string[]) {
  const { ctx, params } = request
  authorize(ctx, 'read_library')
  const question = await getLibraryQuestion(ctx, params.libraryId)
  const shown = await readLibraryVersion(ctx, question.id, question.number)
  const query = queryOf(request)
  const named = readNameFilter(query)
  const mayWrite = may(ctx, 'write_assessments')
  return libraryQuestionPage(form, {
    ctx,
    question,
    shown,
    named,
    uses: await listUses(ctx, question.id),
    assessments: mayWrite ? await listAssessmentChoices(ctx, { named, chosenIds: form.values.getAll('assessmentId') }) : [],
    tried: answer ? tryAnswer(request, shown, answer) : null,
    notice: NOTICES.get(query.get('done') ?? ''),
  })
}

/** @returns null if the question can't have that answer. */
function tryAnswer(
  { ctx }: FastifyRequest,
  { definition }: LibraryVersion,
  answer: string[],
): { value: unknown; score: AnswerScoring } | null {
  const kind = definition && ctx.deps.kinds.get(definition.responseType)
  if (!definition || !kind) return null
  const value = kind.fromForm(answer)
  if (!kind.isAnswer(definition.responseType, definition.spec, value)) return null
  return { value, score: kind.score(definition.spec, definition.key, value) }
}

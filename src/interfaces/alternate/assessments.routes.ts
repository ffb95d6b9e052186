import type { Static } from '@sinclair/typebox'
import {
  type AssessmentFilter,
  AUDIENCES,
  getAssessment,
  listAssessments,
  MEDIA_FORMATS,
} from '../../domain/assessments/assessments.ts'
import { omitUndefined } from '../../domain/fields/omit-undefined.ts'
import type { TypedApp } from '../../http/requests/typed-app.ts'
import { assessmentView } from './assessments.view.ts'
import { nestObjects } from './depth.ts'
import { ChoiceFilter, NumberFilter, SearchFilter, TextFilter, UuidFilter, UuidListFilter, WordListFilter } from './filters.ts'
import { Envelope, IdParameter, ItemQuery, LIST_ORDER, ListQuery, presentPage } from './list.ts'

const Query = ListQuery({
  organization: UuidFilter('Organization'),
  created_by: UuidFilter('Creating organization user'),
  audience: ChoiceFilter(AUDIENCES, 'Audience'),
  question_count: NumberFilter('Number of questions, exact'),
  tags: UuidListFilter('Ids of tags'),
  type: WordListFilter(MEDIA_FORMATS, 'How questions are put'),
  answer_type: WordListFilter(MEDIA_FORMATS, 'How they are answered'),
  name: TextFilter('Name, exact, case-sensitive'),
  search: SearchFilter('Free text in the name'),
})
const tags = ['Assessments']

/** Drops unknown formats: no assessment has them. */
const knownFormats = (words: string[]) => MEDIA_FORMATS.filter((format) => words.includes(format))

const toAssessmentFilter = (query: Static<typeof Query>): AssessmentFilter =>
  omitUndefined({
    createdById: query.created_by,
    audience: query.audience,
    questionCount: query.question_count,
    tagIds: query.tags,
    questionFormats: query.type && knownFormats(query.type),
    answerFormats: query.answer_type && knownFormats(query.answer_type),
    name: query.name,
    search: query.search,
  })

/** alternate.md, GET /assessments and GET /assessments/{id}. */
export function assessmentRoutes(app: TypedApp): void {
  app.get(
    '/assessments',
    {
      schema: {
        tags,
        operationId: 'listAssessments',
        scope: 'assessments:read',
        summary: 'List assessments',
        description: 'The assessments of the organization, oldest first.',
        querystring: Query,
        response: { 200: Envelope(assessmentView.schema) },
        errors: ['page_not_found'],
      },
    },
    async (request, reply) => {
      const filter = toAssessmentFilter(request.query)
      const page = await presentPage(
        request,
        (ctx, page) => listAssessments(ctx, assessmentView.shown, filter, LIST_ORDER, page),
        assessmentView.present,
      )
      return nestObjects(request, reply, 'assessment', page)
    },
  )

  app.get(
    '/assessments/:id',
    {
      schema: {
        tags,
        operationId: 'getAssessment',
        scope: 'assessments:read',
        summary: 'Get an assessment',
        description: 'One assessment of the organization.',
        params: IdParameter,
        querystring: ItemQuery,
        response: { 200: assessmentView.schema },
        hasEtag: true,
        errors: ['assessment_not_found'],
      },
    },
    async (request, reply) =>
      nestObjects(request, reply, 'assessment', assessmentView.present(await getAssessment(request.ctx, request.params.id))),
  )
}

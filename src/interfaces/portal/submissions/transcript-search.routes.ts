import type { FastifyInstance } from 'fastify'
import { getSearchedAssessment, searchTranscripts } from '../../../domain/submissions/grading/search-transcripts.ts'
import { show } from '../kit/layout.ts'
import { queryOf, readList } from '../kit/paging.ts'
import { searchPage } from './transcript-search.page.ts'

type Route = { Params: { assessmentId: string } }

/** Search in the transcripts of an assessment's answers, for members who may read them. */
export function searchRoutes(app: FastifyInstance): void {
  app.get<Route>('/grading/assessments/:assessmentId/search', async (request, reply) => {
    const { ctx, params } = request
    const assessment = await getSearchedAssessment(ctx, params.assessmentId)
    const search = queryOf(request).get('words') ?? ''
    const { form, list } = await readList(request, (page) =>
      searchTranscripts(ctx, { assessmentId: assessment.id, search }, page),
    )
    return show(request, reply, searchPage(form, { ctx, assessment, list }))
  })
}

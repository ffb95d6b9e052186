import type { FastifyInstance, FastifyRequest } from 'fastify'
import { findBands } from '../../../domain/assessments/bands.ts'
import { authorize, may } from '../../../domain/authorization/permissions.ts'
import { DomainError } from '../../../domain/errors.ts'
import { decide, findDecision } from '../../../domain/invites/decisions/decide.ts'
import { readDecisionNames } from '../../../domain/invites/decisions/decision-names.ts'
import { listAssessmentChoices, listClientAssessments, listTagChoices } from '../../../domain/invites/form-options.ts'
import { findShownMedia, readShownQuestions } from '../../../domain/sharing/shown-questions.ts'
import { readCalibration } from '../../../domain/submissions/grading/calibration.ts'
import { readReport } from '../../../domain/submissions/grading/report.ts'
import { reportOnSubmission } from '../../../domain/submissions/grading/result-report.ts'
import { getResult, listResults, partsForClient } from '../../../domain/submissions/grading/results.ts'
import { offersSearch } from '../../../domain/submissions/grading/search-transcripts.ts'
import { sendReportFile } from '../../../http/reports/send-report.ts'
import { sendMedia } from '../../../http/sending/send-media.ts'
import { readAssessmentHead } from '../assessments/assessment-head.ts'
import { readResultFilter } from '../invites/result-filter.ts'
import { readNameFilter } from '../kit/choices.ts'
import { emptyForm, type Form, readFields, submit } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { queryOf, readList, readSort } from '../kit/paging.ts'
import { calibrationPage } from './calibration.page.ts'
import { reportPage } from './report.page.ts'
import { assessmentResultsPage, RESULT_ORDERS, resultPage, resultsPage } from './results.page.ts'

type ReportRoute = { Params: { assessmentId: string } }
type MediaRoute = { Params: { submissionId: string; mediaId: string } }
type Route = { Params: { submissionId: string }; Querystring: { done?: string; audience?: string } }

/** Released results, for members who may read everything and for clients of the assessments. */
export function resultsRoutes(app: FastifyInstance): void {
  app.get('/results', async (request, reply) => {
    const { ctx } = request
    const query = queryOf(request)
    const assessmentId = query.get('assessment') || undefined
    const choiceFilter = { named: readNameFilter(query), chosenIds: [assessmentId ?? ''] }
    const assessments = may(ctx, 'read')
      ? await listAssessmentChoices(ctx, choiceFilter)
      : await listClientAssessments(ctx, choiceFilter)
    const tags = may(ctx, 'read') ? await listTagChoices(ctx, { ...choiceFilter, chosenIds: [query.get('tag') ?? ''] }) : []
    const order = RESULT_ORDERS[readSort(query, RESULT_ORDERS)]!
    const { form, list } = await readList(request, (page) => listResults(ctx, readResultFilter(query), page, order))
    const names = await readDecisionNames(ctx)
    return show(
      request,
      reply,
      resultsPage(form, { ctx, assessments, tags, list, names, bands: await findBands(ctx, assessmentId) }),
    )
  })

  app.get<ReportRoute>('/assessments/:assessmentId/results', async (request, reply) => {
    const { ctx, params } = request
    authorize(ctx, 'read')
    const headed = await readAssessmentHead(ctx, params.assessmentId)
    const report = await readReport(ctx, params.assessmentId)
    const query = queryOf(request)
    const order = RESULT_ORDERS[readSort(query, RESULT_ORDERS)]!
    const { list } = await readList(request, (page) => listResults(ctx, { assessmentId: params.assessmentId }, page, order))
    const canSearch = await offersSearch(ctx, params.assessmentId)
    const names = await readDecisionNames(ctx)
    return show(request, reply, assessmentResultsPage(headed, { list, query, names, canSearch }, report))
  })

  app.get<ReportRoute>('/results/assessments/:assessmentId', async (request, reply) => {
    const { ctx, params } = request
    return show(request, reply, reportPage(ctx, await readReport(ctx, params.assessmentId)))
  })

  app.get<ReportRoute>('/results/assessments/:assessmentId/graders', async (request, reply) => {
    const { ctx, params } = request
    return show(request, reply, calibrationPage(ctx, await readCalibration(ctx, params.assessmentId)))
  })

  const onePage = async ({ ctx, params, query }: FastifyRequest<Route>, form: Form) => {
    const detail = await getResult(ctx, params.submissionId)
    const saved = await findDecision(ctx, detail.id)
    const decision = saved && { saved, names: await readDecisionNames(ctx) }
    const shows = partsForClient(ctx, detail)
    const answers = shows.length > 0 ? (await readShownQuestions(ctx, [detail.id], shows)).get(detail.id) : undefined
    return resultPage(form, { ctx, detail, decision, answers: answers ?? [], done: query.done })
  }

  app.get<Route>('/results/:submissionId', async (request, reply) => show(request, reply, await onePage(request, emptyForm)))

  // Lists send it too. The answer redirects back to the list.
  app.post<Route>('/results/:submissionId/decision', (request, reply) =>
    submit(request, reply, {
      page: (form) => onePage(request, form),
      async work(values) {
        const { ctx, params } = request
        await decide(ctx, params.submissionId, readFields(values, 'decision', 'note'))
        const back = values.get('back') ?? ''
        return back.startsWith(pathOf(ctx)) ? back : `${pathOf(ctx, `results/${params.submissionId}`)}?done=decided`
      },
    }),
  )

  /** Recorded answers and files, for clients who are shown them. */
  app.route<MediaRoute>({
    method: ['GET', 'HEAD'],
    url: '/results/:submissionId/media/:mediaId',
    async handler(request, reply) {
      const { ctx, params } = request
      const detail = await getResult(ctx, params.submissionId)
      const media = await findShownMedia(ctx, [detail.id], params.mediaId, partsForClient(ctx, detail))
      if (!media) throw new DomainError('media_not_found')
      return sendMedia(ctx, request, reply, media)
    },
  })

  app.get<Route>('/results/:submissionId/report', async (request, reply) => {
    const { ctx, params, query } = request
    const audience = query.audience === 'candidate' ? 'candidate' : 'organization'
    return sendReportFile(ctx, reply, await reportOnSubmission(ctx, params.submissionId, audience))
  })
}

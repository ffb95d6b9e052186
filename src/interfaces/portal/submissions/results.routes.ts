import type { FastifyInstance } from 'fastify'
import { authorize, may } from '../../../domain/authorization/permissions.ts'
import { listAssessmentChoices, listClientAssessments, listTagChoices } from '../../../domain/invites/form-options.ts'
import { readReport } from '../../../domain/submissions/grading/report.ts'
import type { ResultFilter } from '../../../domain/submissions/grading/result-list.ts'
import { reportOnSubmission } from '../../../domain/submissions/grading/result-report.ts'
import { getResult, listResults } from '../../../domain/submissions/grading/results.ts'
import { isUuid } from '../../../domain/text/uuid.ts'
import { sendReportFile } from '../../../http/reports/send-report.ts'
import { readAssessmentHead } from '../assessments/assessment-head.ts'
import { readNumber } from '../invites/new-invite.page.ts'
import { readNameFilter } from '../kit/choices.ts'
import { readFields } from '../kit/forms.ts'
import { show } from '../kit/layout.ts'
import { queryOf, readList, readSort } from '../kit/paging.ts'
import { reportPage } from './report.page.ts'
import { assessmentResultsPage, RESULT_ORDERS, resultPage, resultsPage } from './results.page.ts'

/** @returns the filter of the list's form; a minimum that is no whole number becomes one that is refused. */
export function readResultFilter(values: URLSearchParams): ResultFilter {
  const { assessment, tag, minPercent } = readFields(values, 'assessment', 'tag', 'minPercent')
  return {
    assessmentId: isUuid(assessment) ? assessment : undefined,
    tagId: isUuid(tag) ? tag : undefined,
    minPercent: minPercent === '' ? undefined : (readNumber(minPercent) ?? -1),
  }
}

type ReportRoute = { Params: { assessmentId: string } }
type Route = { Params: { submissionId: string } }

/** Released results, for members who may read everything and for clients of the assessments. */
export function resultsRoutes(app: FastifyInstance): void {
  app.get('/results', async (request, reply) => {
    const { ctx } = request
    const query = queryOf(request)
    const assessmentId = query.get('assessment') || undefined
    const wanted = { named: readNameFilter(query), chosenIds: [assessmentId ?? ''] }
    const assessments = may(ctx, 'read') ? await listAssessmentChoices(ctx, wanted) : await listClientAssessments(ctx, wanted)
    const tags = may(ctx, 'read') ? await listTagChoices(ctx, { ...wanted, chosenIds: [query.get('tag') ?? ''] }) : []
    const order = RESULT_ORDERS[readSort(query, RESULT_ORDERS)]!
    const { form, list } = await readList(request, (page) => listResults(ctx, readResultFilter(query), page, order))
    return show(request, reply, resultsPage(form, { ctx, assessments, tags, list }))
  })

  app.get<ReportRoute>('/assessments/:assessmentId/results', async (request, reply) => {
    const { ctx, params } = request
    authorize(ctx, 'read')
    const headed = await readAssessmentHead(ctx, params.assessmentId)
    const report = await readReport(ctx, params.assessmentId)
    const query = queryOf(request)
    const order = RESULT_ORDERS[readSort(query, RESULT_ORDERS)]!
    const { list } = await readList(request, (page) => listResults(ctx, { assessmentId: params.assessmentId }, page, order))
    return show(request, reply, assessmentResultsPage(headed, { list, query }, report))
  })

  app.get<ReportRoute>('/results/assessments/:assessmentId', async (request, reply) => {
    const { ctx, params } = request
    return show(request, reply, reportPage(ctx, await readReport(ctx, params.assessmentId)))
  })

  app.get<Route>('/results/:submissionId', async (request, reply) => {
    const { ctx, params } = request
    return show(request, reply, resultPage(ctx, await getResult(ctx, params.submissionId)))
  })

  app.get<Route>('/results/:submissionId/report', async (request, reply) =>
    sendReportFile(request, reply, await reportOnSubmission(request.ctx, request.params.submissionId)),
  )
}

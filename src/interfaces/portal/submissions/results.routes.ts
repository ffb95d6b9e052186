import type { FastifyInstance } from 'fastify'
import { authorize, may } from '../../../domain/access/permissions.ts'
import { listAssessmentChoices, listClientAssessments } from '../../../domain/invites/form-options.ts'
import { readReport } from '../../../domain/submissions/grading/report.ts'
import { reportOnSubmission } from '../../../domain/submissions/grading/result-report.ts'
import { getResult, listResults } from '../../../domain/submissions/grading/results.ts'
import { sendReportFile } from '../../../http/reports/send-report.ts'
import { readHead } from '../assessments/assessment-head.ts'
import { readNamed } from '../kit/choices.ts'
import { show } from '../kit/layout.ts'
import { queryOf, readList } from '../kit/paging.ts'
import { reportPage } from './report.page.ts'
import { assessmentResultsPage, resultPage, resultsPage } from './results.page.ts'

type ReportRoute = { Params: { assessmentId: string } }
type Route = { Params: { submissionId: string } }

/** What was released, for those who may read everything and for the clients of the assessments. */
export function resultsRoutes(app: FastifyInstance): void {
  app.get('/results', async (request, reply) => {
    const { ctx } = request
    const query = queryOf(request)
    const assessmentId = query.get('assessment') || undefined
    const wanted = { named: readNamed(query), chosenIds: [assessmentId ?? ''] }
    const assessments = may(ctx, 'read') ? await listAssessmentChoices(ctx, wanted) : await listClientAssessments(ctx, wanted)
    const { form, list } = await readList(request, (page) => listResults(ctx, { assessmentId }, page))
    return show(request, reply, resultsPage(form, { ctx, assessments, list }))
  })

  app.get<ReportRoute>('/assessments/:assessmentId/results', async (request, reply) => {
    const { ctx, params } = request
    authorize(ctx, 'read')
    const headed = await readHead(ctx, params.assessmentId)
    const report = await readReport(ctx, params.assessmentId)
    const { list } = await readList(request, (page) => listResults(ctx, { assessmentId: params.assessmentId }, page))
    return show(request, reply, assessmentResultsPage(headed, list, report))
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

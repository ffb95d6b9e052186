import type { FastifyInstance } from 'fastify'
import { authorize } from '../../../domain/authorization/permissions.ts'
import { exportSelectionRates, readSelectionRates } from '../../../domain/submissions/grading/selection-rates.ts'
import {
  exportStatistics,
  type QuestionStatistics,
  readFunnel,
  readGroups,
  readStatistics,
} from '../../../domain/submissions/grading/statistics.ts'
import { plainQuestionText } from '../../../http/pages/candidate-view.ts'
import { type Column, sendCsv } from '../../../http/sending/send-csv.ts'
import { valuesOf } from '../kit/forms.ts'
import { show } from '../kit/layout.ts'
import { queryOf } from '../kit/paging.ts'
import { RECENT_AUTHENTICATION } from '../kit/recent-authentication.ts'
import { readAssessmentHead } from './assessment-head.ts'
import type { AssessmentRoute } from './assessments.routes.ts'
import { selectionColumns } from './selection-rates.parts.ts'
import { DEFAULT_PERIOD, PERIODS, statisticsPage } from './statistics.page.ts'

const columns: Column<QuestionStatistics>[] = [
  ['question', ({ place, isRemoved }) => (isRemoved ? `removed ${place}` : place)],
  ['text', (question) => plainQuestionText(question)],
  ['results', ({ results }) => results],
  ['points_share', ({ share }) => share],
  ['discrimination', ({ discrimination }) => discrimination],
  ['median_seconds', ({ seconds }) => seconds],
  ['marks', ({ marks }) => marks.join('; ')],
]

export function statisticsRoutes(app: FastifyInstance): void {
  app.get<AssessmentRoute>('/assessments/:assessmentId/statistics', async (request, reply) => {
    const { ctx, params } = request
    authorize(ctx, 'read')
    const headed = await readAssessmentHead(ctx, params.assessmentId)
    const requestedDays = Number(queryOf(request).get('days'))
    const days = PERIODS.has(requestedDays) ? requestedDays : DEFAULT_PERIOD
    const [statistics, funnel, groups, rates] = await Promise.all([
      readStatistics(ctx, params.assessmentId),
      readFunnel(ctx, params.assessmentId, days),
      readGroups(ctx, params.assessmentId, days),
      readSelectionRates(ctx, params.assessmentId, queryOf(request).getAll('group')),
    ])
    return show(request, reply, statisticsPage(headed, { statistics, funnel, groups, days, rates }))
  })

  app.post<AssessmentRoute>('/assessments/:assessmentId/statistics/export', RECENT_AUTHENTICATION, ({ ctx, params }, reply) =>
    sendCsv(reply, { name: `statistics-${params.assessmentId}.csv`, columns }, (write) =>
      exportStatistics(ctx, params.assessmentId, write),
    ),
  )

  app.post<AssessmentRoute>('/assessments/:assessmentId/statistics/selection-rates', RECENT_AUTHENTICATION, (request, reply) => {
    const { ctx, params } = request
    const tagIds = valuesOf(request).getAll('group')
    return sendCsv(reply, { name: `selection-rates-${params.assessmentId}.csv`, columns: selectionColumns }, (write) =>
      exportSelectionRates(ctx, params.assessmentId, tagIds, write),
    )
  })
}

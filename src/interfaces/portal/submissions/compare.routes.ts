import type { FastifyInstance } from 'fastify'
import { runExport } from '../../../domain/audit/run-export.ts'
import { authorize } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import { readDecisionNames } from '../../../domain/invites/decisions/decision-names.ts'
import {
  type ComparedRow,
  type Comparison,
  compareResults,
  readComparedAnswers,
} from '../../../domain/submissions/grading/compare-results.ts'
import { sendCsv } from '../../../http/sending/send-csv.ts'
import { issuesOf, refuseForm, valuesOf } from '../kit/forms.ts'
import { show } from '../kit/layout.ts'
import { queryOf } from '../kit/paging.ts'
import { RECENT_AUTHENTICATION } from '../kit/recent-authentication.ts'
import { COMPARE, comparePage, comparisonColumns, toExportedRows, uncomparedPage } from './compare.page.ts'

export function compareRoutes(app: FastifyInstance): void {
  app.get(`/${COMPARE}`, async (request, reply) => {
    const { ctx } = request
    const query = queryOf(request)
    authorize(ctx, 'decide')
    const comparison = await readComparison(ctx, query).catch((error: unknown) => ({ issues: issuesOf(error) }))
    if ('issues' in comparison) return show(request, reply, uncomparedPage({ values: query, ...comparison }, ctx), 422)
    const row = readIndex(query, 'question')
    const question = row === undefined ? undefined : comparison.questions[row]
    const opened = row !== undefined && question ? { row, answers: await readComparedAnswers(ctx, comparison, question) } : null
    const left = Number(query.get('left')) || 0
    const right = Number(query.get('right') ?? 1) || 0
    const pair = [left, right === left ? (left === 0 ? 1 : 0) : right] as const
    return show(request, reply, comparePage({ ctx, comparison, names: await readDecisionNames(ctx), query, opened, pair }))
  })

  app.post(`/${COMPARE}/export`, RECENT_AUTHENTICATION, async (request, reply) => {
    const { ctx } = request
    authorize(ctx, 'export')
    const values = valuesOf(request)
    const comparison = await readComparison(ctx, values).catch((error: unknown) => ({ error }))
    if ('error' in comparison)
      return refuseForm(request, reply, { ...comparison, values, page: (form) => uncomparedPage(form, ctx) })
    return sendCsv(reply, { name: 'comparison.csv', columns: comparisonColumns(comparison) }, (write) =>
      runExport(ctx, { action: 'exported_results', filter: {} }, async () => toExportedRows(comparison), write),
    )
  })
}

const readComparison = (ctx: Context, values: URLSearchParams): Promise<Comparison> =>
  compareResults(ctx, values.getAll('id'), { names: values.get('names') === 'yes', sort: readSortedRow(values) })

/** A number from 1 as an index; undefined: none, or no number. */
function readIndex(values: URLSearchParams, name: string): number | undefined {
  const value = values.get(name) ?? ''
  return /^[1-9]\d{0,2}$/.test(value) ? Number(value) - 1 : undefined
}

/** `3` sorts by the third question, `3.2` by its second criterion. */
function readSortedRow(values: URLSearchParams): ComparedRow | undefined {
  const [, question, criterion] = /^([1-9]\d{0,2})(?:\.([1-9]\d?))?$/.exec(values.get('sort') ?? '') ?? []
  return question === undefined
    ? undefined
    : { question: Number(question) - 1, ...(criterion && { criterion: Number(criterion) - 1 }) }
}

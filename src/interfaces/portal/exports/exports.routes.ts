import type { FastifyInstance, FastifyRequest } from 'fastify'
import { exportAuditLog } from '../../../domain/audit/audit-log.ts'
import { DomainError } from '../../../domain/errors.ts'
import { exportBatchRows, getBatch } from '../../../domain/invites/batches/batches.ts'
import { exportBulkChangeRows, getBulkChange } from '../../../domain/invites/bulk/bulk-changes.ts'
import { readDecisionNames } from '../../../domain/invites/decisions/decision-names.ts'
import { exportInvites } from '../../../domain/invites/listing/export-invites.ts'
import { exportMembers } from '../../../domain/members/export-members.ts'
import { exportGrades, listExportedQuestions } from '../../../domain/submissions/grading/export-grades.ts'
import { exportNotes } from '../../../domain/submissions/grading/export-notes.ts'
import { exportResults } from '../../../domain/submissions/grading/results.ts'
import { sendCsv } from '../../../http/sending/send-csv.ts'
import { sendNdjson } from '../../../http/sending/send-ndjson.ts'
import { bulkOutcomeColumns } from '../invites/bulk.page.ts'
import { outcomeColumns } from '../invites/invite-batch.page.ts'
import { findFilterChoices, readInviteFilter } from '../invites/read-filter.ts'
import { readResultFilter } from '../invites/result-filter.ts'
import { RECENT_AUTHENTICATION } from '../kit/recent-authentication.ts'
import { readAuditFilter } from '../organization/audit-log.routes.ts'
import { readMemberFilter } from '../organization/members.routes.ts'
import {
  auditColumns,
  auditLine,
  gradeColumns,
  inviteColumns,
  memberColumns,
  noteColumns,
  resultColumns,
} from './exports.columns.ts'

/** Exports lists with the filter of the form above them. */
export function exportsRoutes(app: FastifyInstance): void {
  app.post(
    '/invites/export',
    { config: { requiresRecentAuthentication: true, duringSuspension: true } },
    async (request, reply) => {
      const { ctx } = request
      const values = filterOf(request)
      const { assessments } = await findFilterChoices(ctx, values)
      const filter = readInviteFilter(ctx, values, assessments)
      if (!filter) throw new DomainError('not_permitted')
      return sendCsv(reply, { name: nameOf(request, 'invites'), columns: inviteColumns }, (write) =>
        exportInvites(ctx, filter, write),
      )
    },
  )

  app.post<{ Params: { batchId: string } }>(
    '/invites/batches/:batchId/export',
    RECENT_AUTHENTICATION,
    async ({ ctx, params }, reply) => {
      const batch = await getBatch(ctx, params.batchId)
      return sendCsv(reply, { name: `invites-${batch.id}.csv`, columns: outcomeColumns }, (write) =>
        exportBatchRows(ctx, batch, write),
      )
    },
  )

  app.post<{ Params: { changeId: string } }>(
    '/invites/changes/:changeId/export',
    RECENT_AUTHENTICATION,
    async ({ ctx, params }, reply) => {
      const change = await getBulkChange(ctx, params.changeId)
      return sendCsv(reply, { name: `invites-${change.action}-${change.id}.csv`, columns: bulkOutcomeColumns }, (write) =>
        exportBulkChangeRows(ctx, change, write),
      )
    },
  )

  app.post(
    '/members/export',
    { config: { requiresRecentAuthentication: true, duringSuspension: true } },
    async (request, reply) => {
      const filter = readMemberFilter(filterOf(request))
      return sendCsv(reply, { name: nameOf(request, 'members'), columns: memberColumns }, (write) =>
        exportMembers(request.ctx, filter, write),
      )
    },
  )

  app.post(
    '/results/export',
    { config: { requiresRecentAuthentication: true, duringSuspension: true } },
    async (request, reply) => {
      const filter = readResultFilter(filterOf(request))
      const columns = resultColumns(await readDecisionNames(request.ctx))
      return sendCsv(reply, { name: nameOf(request, 'results'), columns }, (write) => exportResults(request.ctx, filter, write))
    },
  )

  assessmentExportsRoutes(app)

  app.post(
    '/settings/audit-log/export',
    { config: { requiresRecentAuthentication: true, duringSuspension: true } },
    async (request, reply) => {
      const values = filterOf(request)
      const filter = readAuditFilter(values)
      if (values.get('format') === 'ndjson')
        return sendNdjson(reply, { name: nameOf(request, 'audit-log', 'ndjson'), line: auditLine }, (write) =>
          exportAuditLog(request.ctx, filter, write),
        )
      return sendCsv(reply, { name: nameOf(request, 'audit-log'), columns: auditColumns }, (write) =>
        exportAuditLog(request.ctx, filter, write),
      )
    },
  )
}

/** Exports the submissions of an assessment. */
function assessmentExportsRoutes(app: FastifyInstance): void {
  app.post<{ Params: { assessmentId: string } }>(
    '/results/assessments/:assessmentId/export',
    { config: { requiresRecentAuthentication: true, duringSuspension: true } },
    async (request, reply) => {
      const { ctx, params } = request
      const columns = gradeColumns(await listExportedQuestions(ctx, params.assessmentId))
      return sendCsv(reply, { name: nameOf(request, 'grades'), columns }, (write) =>
        exportGrades(ctx, params.assessmentId, write),
      )
    },
  )

  app.post<{ Params: { assessmentId: string } }>(
    '/results/assessments/:assessmentId/notes/export',
    { config: { requiresRecentAuthentication: true, duringSuspension: true } },
    async (request, reply) =>
      sendCsv(reply, { name: nameOf(request, 'notes'), columns: noteColumns }, (write) =>
        exportNotes(request.ctx, request.params.assessmentId, write),
      ),
  )
}

const filterOf = ({ body }: FastifyRequest): URLSearchParams => (body instanceof URLSearchParams ? body : new URLSearchParams())

const nameOf = ({ ctx }: FastifyRequest, list: string, ending = 'csv'): string =>
  `${list}-${ctx.deps.clock().toISOString().slice(0, 10)}.${ending}`

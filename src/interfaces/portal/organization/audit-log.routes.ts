import type { FastifyInstance } from 'fastify'
import { type AuditFilter, listAuditEntries } from '../../../domain/audit/audit-log.ts'
import { AUDIT_ACTIONS } from '../../../domain/audit/record-audit.ts'
import { daysAfter } from '../../../domain/time/days.ts'
import { readFields } from '../kit/forms.ts'
import { show } from '../kit/layout.ts'
import { queryOf } from '../kit/paging.ts'
import { auditLogPage } from './audit-log.page.ts'

const PAGE_SIZE = 50

export function auditLogRoutes(app: FastifyInstance): void {
  app.get('/settings/audit-log', async (request, reply) => {
    const values = queryOf(request)
    const { bulk } = readFields(values, 'bulk')
    const filter = readAuditFilter(values)
    // A bulk change is one entry, unless its own entries or those of one action are asked for.
    const part = bulk ? { bulkChangeId: bulk } : filter.action ? {} : { bulkChangeId: null }
    const page = await listAuditEntries(request.ctx, { ...filter, ...part }, PAGE_SIZE)
    return show(request, reply, auditLogPage(request.ctx, { values, page }))
  })
}

export function readAuditFilter(values: URLSearchParams): AuditFilter {
  const fields = readFields(values, 'who', 'action', 'before', 'from', 'to')
  const who = fields.who.trim()
  const action = AUDIT_ACTIONS.find((known) => known === fields.action)
  const [from, last] = [readDay(fields.from), readDay(fields.to)]
  return {
    ...(who && { who }),
    ...(action && { action }),
    ...(from && { from }),
    ...(last && { to: daysAfter(last, 1) }),
    ...(fields.before && { before: fields.before }),
  }
}

/** Start of a day in UTC; undefined if the text is no date. */
function readDay(text: string): Date | undefined {
  const day = /^\d{4}-\d\d-\d\d$/.test(text) ? new Date(`${text}T00:00:00Z`) : undefined
  return day && !Number.isNaN(day.getTime()) ? day : undefined
}

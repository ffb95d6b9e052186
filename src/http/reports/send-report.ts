import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ResultReport } from '../../domain/submissions/grading/result-report.ts'
import { toText } from '../../html/html.ts'
import { pageHeaders } from '../pages/page-headers.ts'
import type { RequestContext } from '../requests/disconnect-signal.ts'
import { printReport } from './print-report.ts'
import { reportPage } from './report-page.ts'

/** Sends a report as HTML if the client prefers it, else as PDF. @throws DomainError too_many_reports. */
export function sendReport(
  request: FastifyRequest,
  reply: FastifyReply,
  report: ResultReport,
): Promise<FastifyReply> | FastifyReply {
  reply.header('vary', 'accept')
  if (!prefersHtml(request)) return sendReportFile(request.ctx, reply, report, 'inline')
  return reply
    .headers(pageHeaders())
    .type('text/html; charset=utf-8')
    .send(toText(reportPage(report)))
}

/** Sends a report as a PDF. @throws DomainError too_many_reports. */
export async function sendReportFile(
  { deps, organization, signal }: RequestContext,
  reply: FastifyReply,
  report: ResultReport,
  disposition: 'inline' | 'attachment' = 'attachment',
): Promise<FastifyReply> {
  const pdf = await deps.typesetReport(printReport(report), { queueKey: organization.id, signal })
  reply.header('content-disposition', `${disposition}; filename="report-${report.submissionId}.pdf"`)
  return reply.type('application/pdf').send(pdf)
}

/** True if `Accept` ranks HTML above PDF. */
function prefersHtml({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  const ranges = (headers.accept ?? '').split(',').map(readRange)
  return qualityOf('text/html', ranges) > qualityOf('application/pdf', ranges)
}

type MediaRange = { type: string; quality: number }

function readRange(text: string): MediaRange {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  const quality = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1)
  return { type, quality: quality >= 0 && quality <= 1 ? quality : 0 }
}

/** Quality of the most specific media range that matches. */
function qualityOf(type: string, ranges: MediaRange[]): number {
  const names = [type, `${type.split('/')[0]}/*`, '*/*']
  const match = names.map((name) => ranges.find((range) => range.type === name)).find((range) => range !== undefined)
  return match?.quality ?? 0
}

import type { FastifyReply } from 'fastify'
import type { ResultReport } from '../../domain/submissions/grading/result-report.ts'
import { toText } from '../../html/html.ts'
import { pageHeaders } from '../pages/html-page.ts'
import { printReport } from './print-report.ts'
import { reportPage } from './report-page.ts'

/** Sends a report as a page. */
export const sendReportPage = (reply: FastifyReply, report: ResultReport): FastifyReply =>
  reply
    .headers(pageHeaders())
    .type('text/html; charset=utf-8')
    .send(toText(reportPage(printReport(report))))

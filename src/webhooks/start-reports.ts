import { enqueueReports } from '../domain/ats/enqueue-reports.ts'
import { findDueReports, type LeasedReport, leaseReports } from '../domain/ats/lease-reports.ts'
import { recordReport, releaseReport, skipReport } from '../domain/ats/record-report.ts'
import type { ServiceContext } from '../domain/context.ts'
import type { AttemptResult } from '../domain/webhooks/delivery-attempts.ts'
import { describeFailure } from './deliver.ts'
import type { Post } from './post.ts'
import { type SendingWorker, startSendingWorker } from './sending-worker.ts'

/** Request to an ATS, without body if it is empty. */
export type ReportCall = { method: string; url: string; headers: Record<string, string>; body: string }
/** Formats a report for its ATS. @returns null if the ATS takes no such report; an error if it can't be sent. */
export type WriteReport = (system: ServiceContext, taken: LeasedReport) => Promise<ReportCall | { error: string } | null>

/** Concurrent reports per connection. */
const MAX_CONCURRENCY = 4
/** Milliseconds for a response. */
const DEADLINE_MS = 10_000

/** Starts reporting the progress of orders to applicant tracking systems. */
export const startReports = (system: ServiceContext, post: Post, write: WriteReport): SendingWorker =>
  startSendingWorker(system, {
    name: 'reports to ATS',
    createSendings: () => enqueueReports(system),
    findDue: (most) => findDueReports(system, most),
    limitOf: () => MAX_CONCURRENCY,
    claim: async (granted) => ({ taken: await leaseReports(system, granted), more: false }),
    receiverOf: ({ connection }) => connection.id,
    attempt: (taken, stop) => report(system, { post, write }, taken, stop),
  })

/** Attempts a report and records the result. Attempts interrupted by a stop are not recorded. */
async function report(
  system: ServiceContext,
  { post, write }: { post: Post; write: WriteReport },
  taken: LeasedReport,
  stop: AbortSignal,
): Promise<void> {
  const call = await write(system, taken)
  if (call === null) return skipReport(system, taken)
  const startedAt = system.deps.clock()
  const began = performance.now()
  const answer = 'error' in call ? call : await send(post, call, stop)
  if (answer === null) return releaseReport(system, taken)
  const milliseconds = Math.round(performance.now() - began)
  const outcome = await recordReport(system, taken, { startedAt, milliseconds, answer })
  const { connection, order, report } = taken
  const status = 'status' in answer ? { status: answer.status } : answer
  const fields = {
    organizationId: connection.organization.id,
    ats: connection.ats,
    orderId: order?.id ?? null,
    attempt: report.attemptCount + 1,
    durationMs: milliseconds,
    outcome,
    ...status,
  }
  if (outcome === 'lost') return system.deps.log.warn(fields, 'a report to an ATS took longer than its lease')
  system.deps.metrics.reportAttempted(outcome)
  system.deps.log.info(fields, 'a report to an ATS was attempted')
}

/** @returns null if interrupted. */
async function send(
  post: Post,
  { method, url, headers, body }: ReportCall,
  stop: AbortSignal,
): Promise<AttemptResult['answer'] | null> {
  try {
    return await post(url, headers, body, stop, { method, deadlineMs: DEADLINE_MS })
  } catch (error) {
    return stop.aborted ? null : { error: describeFailure(error as NodeJS.ErrnoException) }
  }
}

import { carryTrace, inSpan, withLogFields } from '../domain/concurrency/tracing.ts'
import type { Log, LogMessage } from '../domain/ports/log-events.ts'

/** Trace context of the request that queued the job. */
type Traced = { traceparent?: string }
/** @property data null for scheduled jobs. */
type Job = { id: string; data: object | null; retryCount: number }
/** @property message logged when an attempt fails and will be retried. */
type FailureLog = { log: Log; message: LogMessage }

/** Adds the current trace context to a job's data. */
export const withTrace = <Data extends object>(data: Data): Data & Traced => ({ ...data, ...carryTrace() })

/** Runs a job in a span of the trace that queued it. Every line logged meanwhile names the queue, the job, and the attempt. */
export function runJob<T>(queue: string, job: Job, work: () => Promise<T>, failing?: FailureLog): Promise<T> {
  const { traceparent: parent, ...jobData }: Traced = job.data ?? {}
  const span = { name: `job ${queue}`, kind: 'consumer', attributes: { queue }, parent } as const
  const logAndRethrow = (err: unknown) => {
    failing?.log.error({ err, ...jobData, outcome: 'retried' }, failing.message)
    throw err
  }
  return withLogFields({ queue, job: job.id, attempt: job.retryCount + 1 }, () => inSpan(span, () => work().catch(logAndRethrow)))
}

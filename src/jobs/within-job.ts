import { carryTrace, inSpan, withLogFields } from '../domain/concurrency/tracing.ts'
import type { Log } from '../domain/context.ts'
import type { LogMessage } from '../domain/ports/log-events.ts'

/** What a job takes along of the trace in which it was queued. */
type Traced = { traceparent?: string }
/** @property data null of a job that a schedule makes. */
type Job = { id: string; data: object | null; retryCount: number }
/** @property message what the log says of an attempt that fails and is retried. */
type Failing = { log: Log; message: LogMessage }

/** A job's data, with the trace that is under way. */
export const traced = <Data extends object>(data: Data): Data & Traced => ({ ...data, ...carryTrace() })

/**
 * Does a job, within a span of the trace in which it was queued. Each line that is logged meanwhile says of which queue and job it is, which
 * attempt at it, and how long that has taken so far.
 */
export function withinJob<T>(queue: string, job: Job, work: () => Promise<T>, failing?: Failing): Promise<T> {
  const { traceparent: parent, ...about }: Traced = job.data ?? {}
  const span = { name: `job ${queue}`, kind: 'consumer', attributes: { queue }, parent } as const
  const tell = (err: unknown) => {
    failing?.log.error({ err, ...about, outcome: 'retried' }, failing.message)
    throw err
  }
  return withLogFields({ queue, job: job.id, attempt: job.retryCount + 1 }, () => inSpan(span, () => work().catch(tell)))
}

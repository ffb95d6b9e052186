import { carryTrace, inSpan, withLogFields } from '../domain/work/tracing.ts'

/** What a job takes along of the trace in which it was queued. */
type Traced = { traceparent?: string }

/** A job's data, with the trace that is under way. */
export const traced = <Data extends object>(data: Data): Data & Traced => ({ ...data, ...carryTrace() })

/** Does a job, with its queue and id in the log, and within a span of the trace in which it was queued. */
export const withinJob = <T>(queue: string, { id, data }: { id: string; data: object }, work: () => Promise<T>): Promise<T> => {
  const { traceparent: parent } = data as Traced
  const span = { name: `job ${queue}`, kind: 'consumer', attributes: { queue }, parent } as const
  return withLogFields({ queue, job: id }, () => inSpan(span, work))
}

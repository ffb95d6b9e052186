import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'

// Trace (W3C Trace Context) and log fields of the current request or job. A process traces everything or nothing, so this is the
// only state that is not passed as a parameter.

/** Attributes of a span. Never values of statements, addresses, names, keys, or links. */
type Attributes = Record<string, string | number | undefined>
type SpanKind = 'internal' | 'server' | 'client' | 'consumer'

/** A piece of work that has ended. `startedAt` and `milliseconds` have fractions; ids are in hexadecimal. */
export type EndedSpan = {
  traceId: string
  spanId: string
  parentId: string | undefined
  name: string
  kind: SpanKind
  startedAt: number
  milliseconds: number
  attributes: Attributes
  failed: boolean
}

type Span = { attributes: Attributes; failed: boolean }

type Trace = { traceId: string; spanId: string; isSampled: boolean }
type LogFields = Record<string, string | number>
type UnderWay = { trace?: Trace; fields?: LogFields; since?: number }
type Begin = { name: string; kind: SpanKind; attributes?: Attributes; parent?: string | undefined }

const underWay = new AsyncLocalStorage<UnderWay>()
let tracing: { take: (span: EndedSpan) => void; ratio: number } | undefined

/** Starts tracing with the share of traces to record; without arguments it stops. */
export function traceTo(take?: (span: EndedSpan) => void, ratio = 1): void {
  tracing = take && { take, ratio }
}

/**
 * Begins a span: below the current one, below `parent` (a `traceparent` header), or with a new trace.
 *
 * @returns undefined if nothing is traced; otherwise functions to run work within the span, and to end it once.
 */
export function beginSpan({ name, kind, attributes = {}, parent }: Begin) {
  if (!tracing) return undefined
  const { take, ratio } = tracing
  const parentTrace = underWay.getStore()?.trace ?? readParent(parent, ratio)
  const traceId = parentTrace?.traceId ?? randomBytes(16).toString('hex')
  const trace = { traceId, spanId: randomBytes(8).toString('hex'), isSampled: parentTrace?.isSampled ?? isChosen(traceId, ratio) }
  const startedAt = performance.timeOrigin + performance.now()
  const span: Span = { attributes, failed: false }
  let hasEnded = false
  return {
    span,
    run: <T>(work: () => T): T => underWay.run({ ...underWay.getStore(), trace }, work),
    end() {
      if (hasEnded || !trace.isSampled) return
      hasEnded = true
      const milliseconds = performance.timeOrigin + performance.now() - startedAt
      take({ traceId, spanId: trace.spanId, parentId: parentTrace?.spanId, name, kind, startedAt, milliseconds, ...span })
    },
  }
}

/** Does the work within a span, and ends the span with it. */
export async function inSpan<T>(options: Begin, work: (span: Span) => Promise<T>): Promise<T> {
  const spanHandle = beginSpan(options)
  if (!spanHandle) return work({ attributes: {}, failed: false })
  try {
    return await spanHandle.run(() => work(spanHandle.span))
  } catch (error) {
    spanHandle.span.failed = true
    throw error
  } finally {
    spanHandle.end()
  }
}

/** True if the current trace is sampled. */
export const isTraced = (): boolean => underWay.getStore()?.trace?.isSampled === true

/** Does the work with these in each line of the log, and with the milliseconds from its beginning to the line. */
export const withLogFields = <T>(fields: LogFields, work: () => T): T =>
  underWay.run({ ...underWay.getStore(), fields, since: performance.now() }, work)

/** Fields that log lines of the current request or job have. */
export function readLogFields(): LogFields {
  const { fields, since, trace } = underWay.getStore() ?? {}
  return {
    ...fields,
    ...(since !== undefined && { durationMs: Math.round(performance.now() - since) }),
    ...(trace && { trace_id: trace.traceId, span_id: trace.spanId }),
  }
}

/** `traceparent` of the current trace, if any, for jobs and webhooks. */
export function carryTrace(): { traceparent?: string } {
  const trace = underWay.getStore()?.trace
  return trace ? { traceparent: `00-${trace.traceId}-${trace.spanId}-0${Number(trace.isSampled)}` } : {}
}

/** Binds later work to the current trace. */
export const bindToTrace = <Given extends unknown[], T>(work: (...options: Given) => T): ((...options: Given) => T) =>
  AsyncLocalStorage.bind(work)

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

/** Clients can turn tracing off for their request, but not on: traces cost the operator. */
function readParent(header: string | undefined, ratio: number): Trace | undefined {
  const [, traceId = '', spanId = '', flags = ''] = TRACEPARENT.exec(header ?? '') ?? []
  if (!/[^0]/.test(traceId) || !/[^0]/.test(spanId)) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 && isChosen(traceId, ratio) }
}

/** By the trace's id, so that all processes choose the same. */
const isChosen = (traceId: string, ratio: number): boolean => Number.parseInt(traceId.slice(-8), 16) < ratio * 2 ** 32

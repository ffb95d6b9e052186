import type { FastifyBaseLogger } from 'fastify'
import type { EndedSpan } from '../domain/concurrency/tracing.ts'
import { version } from './version.ts'

/** Spans per message, and most that wait; further ones are dropped. */
const BATCH_SIZE = 512
const MAX_WAITING = 4_096
const INTERVAL_MS = 5_000
/** Milliseconds for one message, and for the last one on stop. */
const DEADLINE_MS = 10_000
const LAST_DEADLINE_MS = 1_000

/** OTLP's numbers. */
const KINDS = { internal: 1, server: 2, client: 3, consumer: 5 } as const
const FAILED = 2

export type SpanExport = { add: (span: EndedSpan) => void; close: () => Promise<void> }

/**
 * Sends spans in batches to a collector (OTLP over HTTP with JSON). If the collector is away, spans are dropped.
 *
 * @param endpoint OTEL_EXPORTER_OTLP_ENDPOINT, without `/v1/traces`.
 */
export function exportSpans(endpoint: string, log: FastifyBaseLogger): SpanExport {
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`
  let waiting: EndedSpan[] = []
  let sending: Promise<void> | undefined
  let isAway = false

  async function send(spans: EndedSpan[], deadline: number): Promise<void> {
    const headers = { 'content-type': 'application/json' }
    try {
      const body = JSON.stringify(toOtlp(spans))
      const { ok, status } = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(deadline) })
      if (!ok) throw new Error(`The collector answered ${status}`)
      isAway = false
    } catch (err) {
      if (!isAway) log.warn({ err }, 'traces cannot be sent to the collector: they are lost until it is reachable')
      isAway = true
    }
  }
  const sendNext = (deadline = DEADLINE_MS) => {
    if (waiting.length === 0) return
    sending ??= send(waiting.splice(0, BATCH_SIZE), deadline).finally(() => {
      sending = undefined
      if (waiting.length >= BATCH_SIZE) sendNext()
    })
  }
  const timer = setInterval(sendNext, INTERVAL_MS).unref()
  return {
    add(span) {
      if (waiting.length >= MAX_WAITING) return
      if (waiting.push(span) === BATCH_SIZE) sendNext()
    },
    async close() {
      clearInterval(timer)
      await sending
      const remaining = waiting
      waiting = []
      if (remaining.length > 0 && !isAway) await send(remaining, LAST_DEADLINE_MS)
    },
  }
}

const toOtlp = (spans: EndedSpan[]) => ({
  resourceSpans: [
    {
      resource: { attributes: toOtlpAttributes({ 'service.name': 'assessment-invitation-service', 'service.version': version }) },
      scopeSpans: [{ scope: { name: 'assessment-invitation-service' }, spans: spans.map(toOtlpSpan) }],
    },
  ],
})

const toOtlpSpan = ({ traceId, spanId, parentId, name, kind, startedAt, milliseconds, attributes, failed }: EndedSpan) => ({
  ...{ traceId, spanId, name, kind: KINDS[kind] },
  ...(parentId && { parentSpanId: parentId }),
  startTimeUnixNano: toNanoseconds(startedAt),
  endTimeUnixNano: toNanoseconds(startedAt + milliseconds),
  attributes: toOtlpAttributes(attributes),
  ...(failed && { status: { code: FAILED } }),
})

/** Formats milliseconds as nanoseconds. Text, because they exceed a number's precision. */
const toNanoseconds = (ms: number): string => `${Math.floor(ms)}${String(Math.floor((ms % 1) * 1e6)).padStart(6, '0')}`

const toOtlpAttributes = (attributes: EndedSpan['attributes']) =>
  Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ({ key, value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value } }))

import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import type { Pool, PoolClient } from 'pg'
import { beginSpan, isTraced, traceTo } from '../domain/concurrency/tracing.ts'
import { isHealthCheck } from '../http/operations/health.ts'
import type { Config } from './config.ts'
import { exportSpans } from './export-spans.ts'

/** Starts exporting spans if OTEL_EXPORTER_OTLP_ENDPOINT is set. `close` sends the last spans. */
export function startTracing({ traces }: Pick<Config, 'traces'>, log: FastifyBaseLogger): { close: () => Promise<void> } {
  if (!traces) return { close: async () => {} }
  const spans = exportSpans(traces.endpoint, log)
  traceTo(spans.add, traces.ratio)
  return {
    async close() {
      traceTo()
      await spans.close()
    },
  }
}

type ActiveSpan = NonNullable<ReturnType<typeof beginSpan>>

/** Traces each request, named by its route: URLs contain tokens and search terms. */
export function traceRequests(app: FastifyInstance): void {
  const spans = new WeakMap<FastifyRequest, ActiveSpan>()
  app.addHook('onRequest', (request, _reply, done) => {
    const span = isHealthCheck(request) ? undefined : beginSpan(describeRequest(request))
    if (!span) return done()
    spans.set(request, span)
    span.run(done)
  })
  // Reading the body leaves the async context, so it is entered again.
  app.addHook('preValidation', (request, _reply, done) => runWithin(spans.get(request), done))
  app.addHook('onResponse', (request, reply, done) => {
    const span = spans.get(request)
    if (span) {
      span.span.attributes['http.response.status_code'] = reply.statusCode
      span.span.failed = reply.statusCode >= 500
      span.end()
    }
    runWithin(span, done)
  })
}

const runWithin = (span: ActiveSpan | undefined, done: () => void): void => (span ? span.run(done) : done())

function describeRequest({ method, headers: { traceparent }, routeOptions: { url: route = 'none' } }: FastifyRequest) {
  const attributes = { 'http.request.method': method, 'http.route': route }
  const parent = typeof traceparent === 'string' ? traceparent : undefined
  return { name: `${method} ${route}`, kind: 'server', attributes, parent } as const
}

/** Traces the statements of traced work, named by verb and first table. */
export function traceStatements(pool: Pool): void {
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => unknown
    const traced = (...args: unknown[]) => (isTraced() ? queryInSpan(query, args) : query(...args))
    client.query = traced as PoolClient['query']
  })
}

/** Supports both of pg's forms: with a callback, and with a promise. */
function queryInSpan(query: (...args: unknown[]) => unknown, args: unknown[]): unknown {
  const summary = summarize(args[0])
  const attributes = { 'db.system.name': 'postgresql', 'db.query.summary': summary }
  const span = beginSpan({ name: summary, kind: 'client', attributes })
  const end = (error?: unknown) => {
    if (!span) return
    span.span.failed = Boolean(error)
    span.end()
  }
  const tell = args.at(-1)
  if (typeof tell === 'function') {
    const telling = (error: unknown, ...result: unknown[]) => {
      end(error)
      tell(error, ...result)
    }
    return query(...args.slice(0, -1), telling)
  }
  const result = query(...args)
  if (result instanceof Promise) result.then(() => end(), end)
  else end()
  return result
}

const VERB = /^\s*(?:with|select|insert|update|delete|begin|commit|rollback|\w+)/i
const TABLE = /\b(?:from|into|update)\s+(?:"?\w+"?\.)?"?(\w+)"?/i
const LONGEST = 64

/** Shortens a statement, e.g. to `select invites`. Its text contains no values, but is long. */
function summarize(args: unknown): string {
  const text = typeof args === 'string' ? args : String((args as { text?: unknown })?.text ?? '')
  const verb = VERB.exec(text)?.[0].trim().toLowerCase() ?? 'statement'
  const table = TABLE.exec(text)?.[1]
  return (table ? `${verb} ${table}` : verb).slice(0, LONGEST)
}

import { DatabaseError, type Pool, type PoolClient } from 'pg'
import { ConnectionLostError, isDatabaseUnavailable, PoolTimeoutError } from './errors.ts'

/** A log of the database's outages. */
export type OutageLog = Record<'info' | 'error', (fields: object, message: string) => void>

/** An outage ends after this time without a failure: during an outage, or while connections run out, some statements succeed. */
const QUIET_MS = 3_000
/** Timers may fire a little early. */
const TIMER_TOLERANCE_MS = 50

/**
 * Replaces errors of connections that could not be made, or were lost, by a class of their own: pg marks them only by their messages. Logs
 * one line when the database becomes unavailable and one when it is back, however many statements fail in between.
 */
export function watchConnections(pool: Pool, log: OutageLog | undefined, onAway?: () => void): void {
  const outage = log && noteOutages(log, onAway)
  const explain = (error: Error): Error => {
    if (error instanceof ConnectionLostError) return error
    const explained = error instanceof PoolTimeoutError || isStatementError(error) ? error : new ConnectionLostError(error)
    if (isDatabaseUnavailable(explained)) outage?.failed(explained)
    return explained
  }
  explainConnecting(pool, explain)
  explainPoolQueries(pool, explain)
  pool.on('connect', (client) => explainQueries(client, explain, () => outage?.answered()))
}

/** Errors from the server itself, or about the statement's values. */
const isStatementError = (error: Error): boolean => error instanceof DatabaseError || error instanceof TypeError

/** Explains errors of waiting for, and opening, a connection. */
function explainConnecting(pool: Pool, explain: (error: Error) => Error): void {
  const connect = pool.connect.bind(pool)
  pool.connect = ((callback?: Parameters<typeof connect>[0]) => {
    const longest = performance.now() + (pool.options.connectionTimeoutMillis ?? 0) - TIMER_TOLERANCE_MS
    const toExplained = (error: Error) =>
      explain('code' in error || performance.now() < longest ? error : new PoolTimeoutError(error))
    if (!callback) return connect().catch((error) => Promise.reject(toExplained(error)))
    return connect((error, client, release) => callback(error && toExplained(error), client, release))
  }) as typeof pool.connect
}

/** Explains errors of a query whose connection breaks: the pool replies itself, sometimes before the connection does. */
function explainPoolQueries(pool: Pool, explain: (error: Error) => Error): void {
  const query = pool.query.bind(pool) as (...args: unknown[]) => unknown
  const explaining = (...args: unknown[]): unknown => {
    const callback = args.at(-1)
    if (typeof callback === 'function')
      return query(...args.slice(0, -1), (error: Error | undefined, result: unknown) => callback(error && explain(error), result))
    const result = query(...args)
    return result instanceof Promise ? result.catch((error) => Promise.reject(explain(error))) : result
  }
  pool.query = explaining as typeof pool.query
}

/** Explains errors of queries with a callback, as the pool sends them, and of queries with a promise. */
function explainQueries(client: PoolClient, explain: (error: Error) => Error, answered: () => void): void {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown
  const explaining = (...args: unknown[]): unknown => {
    const callback = args.at(-1)
    if (typeof callback === 'function') {
      const explainingCallback = (error: Error | null | undefined, result: unknown) => {
        if (!error) answered()
        callback(error && explain(error), result)
      }
      return query(...args.slice(0, -1), explainingCallback)
    }
    const pending = query(...args)
    if (!(pending instanceof Promise)) return pending
    return pending.then(
      (result) => {
        answered()
        return result
      },
      (error) => Promise.reject(explain(error)),
    )
  }
  client.query = explaining as typeof client.query
}

function noteOutages(log: OutageLog, onAway?: () => void) {
  let since: number | undefined
  let latest = 0
  let failures = 0
  return {
    failed(error: Error) {
      latest = performance.now()
      failures++
      if (since !== undefined) return
      since = latest
      onAway?.()
      log.error({ err: error }, 'the database is unreachable: requests get a 503 until it is back')
    },
    answered() {
      if (since === undefined || performance.now() - latest < QUIET_MS) return
      log.info({ seconds: Math.round((latest - since) / 1_000), failures }, 'the database is back')
      since = undefined
      failures = 0
    },
  }
}

import { AsyncLocalStorage } from 'node:async_hooks'
import pg from 'pg'

/** A query with the values of its parameters. */
export type Query = { text: string; values: unknown[] }

const recordings = new AsyncLocalStorage<Query[]>()
/**
 * Queries that were recorded when a pool got them. Without a free connection, a pool sends a query later, in the context of the work that
 * returns a connection.
 */
const ofPools = new WeakSet<object>()

function record(query: string | Partial<Query>, values?: unknown[]): void {
  const { text = '', values: own = [] } = typeof query === 'string' ? { text: query, values: values ?? [] } : query
  recordings.getStore()?.push({ text, values: own })
}

// These patches last as long as the process. A spy of Vitest would be removed after the first file that imports this module.
const [send, sendByPool] = [pg.Client.prototype.query, pg.Pool.prototype.query] as ((...given: unknown[]) => unknown)[]
Object.assign(pg.Client.prototype, {
  query(this: pg.Client, ...given: unknown[]) {
    const [query, values] = given as [string | Partial<Query>, unknown[]?]
    if (typeof query === 'string' || !ofPools.has(query)) record(query, values)
    return send!.apply(this, given)
  },
})
Object.assign(pg.Pool.prototype, {
  query(this: pg.Pool, ...given: unknown[]) {
    const [query] = given as [string | Partial<Query>]
    if (typeof query !== 'string') {
      record(query)
      ofPools.add(query)
    }
    return sendByPool!.apply(this, given)
  },
})

/** Records the queries of the work, without background queries of the process. */
export async function recordQueries<T>(work: () => Promise<T>): Promise<{ result: T; queries: Query[] }> {
  const queries: Query[] = []
  const result = await recordings.run(queries, work)
  return { result, queries }
}

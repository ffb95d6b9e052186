import { AsyncLocalStorage } from 'node:async_hooks'
import pg from 'pg'

/** What the database was asked, with the values of its parameters. */
export type Query = { text: string; values: unknown[] }

const recordings = new AsyncLocalStorage<Query[]>()
const original: (...values: unknown[]) => unknown = pg.Client.prototype.query
// For as long as the process runs: a spy of Vitest's would be gone with the first file that imports this.
Object.assign(pg.Client.prototype, {
  query(this: pg.Client, ...given: unknown[]) {
    const [query, values] = given as [string | Partial<Query>, unknown[]?]
    const { text = '', values: own = [] } = typeof query === 'string' ? { text: query, values: values ?? [] } : query
    recordings.getStore()?.push({ text, values: own })
    return original.apply(this, given)
  },
})

/** What the work asks the database: what the process asks on its own account meanwhile counts for none. */
export async function recordQueries<T>(work: () => Promise<T>): Promise<{ result: T; queries: Query[] }> {
  const queries: Query[] = []
  const result = await recordings.run(queries, work)
  return { result, queries }
}

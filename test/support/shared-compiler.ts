import { vi } from 'vitest'

// This setup file shares Prisma's query compiler. Prisma reads its schema and plans each kind of query again for every client, which takes a
// third of a test file's processor time. Plans contain no values and don't depend on the connection, so the clients of a worker can share them.
vi.mock('@prisma/client/runtime/query_compiler_small_bg.postgresql.mjs', async (importOriginal) => {
  const original = await importOriginal<{ QueryCompiler: new (options: object) => Compiler }>()
  let compiler: Compiler | undefined
  const plans = new Map<string, object>()
  const shared = (kind: 'compile' | 'compileBatch') => (query: string) => {
    const plan = plans.get(kind + query) ?? compiler![kind](query)
    if (!CREATES_MANY.test(query)) plans.set(kind + query, plan)
    return plan
  }
  class QueryCompiler implements Compiler {
    compile = shared('compile')
    compileBatch = shared('compileBatch')
    constructor(options: object) {
      compiler ??= new original.QueryCompiler(options)
    }
    free() {}
  }
  return { ...original, QueryCompiler }
})

type Compiler = { compile: (query: string) => object; compileBatch: (query: string) => object; free: () => void }

/** Queries whose plans contain values. The client doesn't cache these plans either. */
const CREATES_MANY = /"action":"createMany/

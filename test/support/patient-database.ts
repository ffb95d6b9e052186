import { vi } from 'vitest'
import type * as client from '../../src/db/client.ts'
import type * as generated from '../../src/generated/prisma/client.ts'

// A setup file. Within a test's process, service and test share the event loop, and all processes the machine: how long a request waits
// for a connection or a statement would say how busy that is. The limits of production hold where the service has a process of its own
// (test/faults/database.test.ts); `lock_timeout`, which other transactions reach and a busy machine does not, holds everywhere.
const WAIT_MS = 60_000
const POOL = { connectionTimeoutMillis: WAIT_MS, query_timeout: WAIT_MS }
/** A pooler takes none of these. */
const SESSION = { statement_timeout: WAIT_MS, idle_in_transaction_session_timeout: WAIT_MS }
const TRANSACTION = { maxWait: WAIT_MS, timeout: WAIT_MS }

vi.mock('../../src/db/client.ts', async (importOriginal) => {
  const original = await importOriginal<typeof client>()
  const openPool: typeof client.openPool = (url, options) => {
    const pool = original.openPool(url, options)
    Object.assign(pool.options, POOL, options?.isShared ? {} : SESSION)
    return pool
  }
  return { ...original, openPool }
})

vi.mock('../../src/generated/prisma/client.ts', async (importOriginal) => {
  const original = await importOriginal<typeof generated>()
  class PrismaClient extends original.PrismaClient {
    constructor(options: ConstructorParameters<typeof original.PrismaClient>[0]) {
      super({ transactionOptions: TRANSACTION, ...options })
    }
  }
  return { ...original, PrismaClient }
})

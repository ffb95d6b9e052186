import { vi } from 'vitest'
import type * as client from '../../src/db/client.ts'
import type * as generated from '../../src/generated/prisma/client.ts'

// This setup file raises the database timeouts. In a test's process, the service and the test share the event loop, so a request's wait for a
// connection or statement depends on how busy the machine is. Production's limits apply where the service runs in a separate process
// (test/faults/database.test.ts). `lock_timeout` applies everywhere: it depends on other transactions, not on the load of the machine.
const WAIT_MS = 60_000
const POOL = { connectionTimeoutMillis: WAIT_MS, query_timeout: WAIT_MS }
/** Session settings, which a pooler does not accept. */
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

import { AsyncLocalStorage } from 'node:async_hooks'
import { PrismaPg } from '@prisma/adapter-pg'
import type { Transaction as AdapterTransaction, SqlDriverAdapterFactory } from '@prisma/driver-adapter-utils'
import { Pool, type PoolClient, type QueryConfig } from 'pg'
import type { Prisma, PrismaClient } from '../generated/prisma/client.ts'
import type { NameStatement } from './statement-names.ts'

/** @property requireOpen throws once the transaction has ended: an operation of several statements may still be under way. */
type OpenTransaction = { client: PoolClient; requireOpen: () => void }
/** The transaction that Prisma Client is about to join. */
const joining = new AsyncLocalStorage<OpenTransaction>()

/** Prisma's adapter over the pool. A transaction that begins within {@link joinTransaction} is ours: Prisma sends neither BEGIN nor COMMIT. */
export function createAdapter(pool: Pool, statementNameGenerator: NameStatement): SqlDriverAdapterFactory {
  const options = { statementNameGenerator }
  const factory = new PrismaPg(pool, options)
  return {
    provider: factory.provider,
    adapterName: factory.adapterName,
    async connect() {
      const adapter = await factory.connect()
      const startTransaction = adapter.startTransaction.bind(adapter)
      adapter.startTransaction = (isolationLevel) => {
        const transaction = joining.getStore()
        return transaction ? transactionOn(transaction, options) : startTransaction(isolationLevel)
      }
      return adapter
    },
  }
}

/** With `usePhantomQuery` Prisma leaves the end of the transaction to its adapter, which leaves it to session.ts. */
async function transactionOn(
  transaction: OpenTransaction,
  options: ConstructorParameters<typeof PrismaPg>[1],
): Promise<AdapterTransaction> {
  const adapter = await new PrismaPg(poolOf(transaction), options).connect()
  return {
    provider: adapter.provider,
    adapterName: adapter.adapterName,
    options: { usePhantomQuery: true },
    queryRaw: (query) => adapter.queryRaw(query),
    executeRaw: (query) => adapter.executeRaw(query),
    commit: async () => {},
    rollback: async () => {},
  }
}

/** PrismaPg takes instances of Pool only: one connection, as a pool. */
const poolOf = ({ client, requireOpen }: OpenTransaction): Pool =>
  Object.create(Pool.prototype, {
    query: {
      async value(query: QueryConfig) {
        requireOpen()
        return client.query(query)
      },
    },
    on: { value: () => {} },
    removeListener: { value: () => {} },
  })

/** Prisma Client inside a transaction of {@link createAdapter}'s caller; `leave` ends its part. */
export type JoinedTransaction = { inside: Promise<Prisma.TransactionClient>; leave: () => Promise<unknown> }

/** @param timeout milliseconds, longer than the transaction may take: its end is not Prisma's. */
export function joinTransaction(prisma: PrismaClient, openTransaction: OpenTransaction, timeout: number): JoinedTransaction {
  const entered = Promise.withResolvers<Prisma.TransactionClient>()
  const departed = Promise.withResolvers<void>()
  const run = (transaction: Prisma.TransactionClient) => {
    entered.resolve(transaction)
    return departed.promise
  }
  const running = joining.run(openTransaction, () => prisma.$transaction(run, { timeout }))
  running.catch(entered.reject)
  const leave = () => {
    departed.resolve()
    return running.catch(() => {})
  }
  return { inside: entered.promise, leave }
}

/** Prisma Client that joins the transaction with its first query. */
export const lazyClient = (join: () => Promise<Prisma.TransactionClient>): Prisma.TransactionClient =>
  new Proxy({} as Prisma.TransactionClient, {
    get: (_, name) => (typeof name === 'symbol' || name === 'then' ? undefined : lazyMember(join, name)),
  })

type Call = (...args: unknown[]) => unknown
/** A method of the client, or a model with its methods. */
function lazyMember(join: () => Promise<Prisma.TransactionClient>, name: string): Call {
  const client = async () => (await join()) as unknown as Record<string, Call & Record<string, Call>>
  const call: Call = async (...args) => (await client())[name]!(...args)
  return new Proxy(call, {
    get:
      (_, method) =>
      async (...args: unknown[]) =>
        (await client())[name]![method as string]!(...args),
  })
}

import type { Db, Transaction } from '../db/client.ts'
import type { Context } from './context.ts'

/** Where the request's queries go: into the transaction that is open around it, or each by itself. */
export const connection = (ctx: Context): Db | Transaction => ctx.transaction ?? ctx.deps.db

/** All or nothing. Within the transaction that is open around the request a part of it: when it fails, the rest may go on. */
export const inTransaction = <T>(ctx: Context, work: (tx: Transaction) => Promise<T>): Promise<T> =>
  connection(ctx).$transaction(work)

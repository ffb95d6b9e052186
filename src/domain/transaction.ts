import type { ServiceContext } from './context.ts'

/**
 * All or nothing. Within a transaction that is open already a part of it: when it fails, the rest may go on.
 *
 * @param work does all its reading and writing through the context it is given.
 */
export const inTransaction = <Ctx extends ServiceContext, T>(ctx: Ctx, work: (ctx: Ctx) => Promise<T>): Promise<T> =>
  ctx.db.$transaction((db) => work({ ...ctx, db }))

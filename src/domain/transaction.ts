import type { ServiceContext } from './context.ts'

/**
 * Does the work in a transaction. Inside an open transaction it becomes a savepoint: when it fails, the transaction can go on.
 *
 * @param work does all its reading and writing through the context it is given.
 */
export const inTransaction = <Ctx extends ServiceContext, T>(ctx: Ctx, work: (ctx: Ctx) => Promise<T>): Promise<T> =>
  ctx.db.$transaction((db) => work({ ...ctx, db }))

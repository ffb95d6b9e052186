import { affectedRows } from '../../db/statements.ts'
import { unscoped } from '../../db/unscoped.ts'
import type { ServiceContext } from '../context.ts'

/**
 * Marks a single-use token as used. Of several attempts, in all processes, one succeeds.
 *
 * @param key kind and id of the token, such as `sign-in-link <id>`. It is stored as it is, so it must not be secret.
 * @param expiresAt end of the token's validity.
 * @returns false if it was used before.
 */
export async function claimToken({ db }: Pick<ServiceContext, 'db'>, key: string, expiresAt: Date): Promise<boolean> {
  const newToken = unscoped(db).insertInto('usedTokens').values({ key, expiresAt })
  return (await affectedRows(newToken.onConflict((conflict) => conflict.column('key').doNothing()))) === 1
}

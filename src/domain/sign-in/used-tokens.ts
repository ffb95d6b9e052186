import { affectedRows } from '../../db/statements.ts'
import { unscoped } from '../../db/unscoped.ts'
import type { ServiceContext } from '../context.ts'

/**
 * Uses up what is good once: of those who try at once, over all processes, one.
 *
 * @param key says what it is and whose, `sign-in-link <id>`. No secrets: it is kept as it is. @param expiresAt from when it would not be good any more anyhow.
 * @returns whether it was this one; false: it was used before.
 */
export async function spend({ db }: Pick<ServiceContext, 'db'>, key: string, expiresAt: Date): Promise<boolean> {
  const spent = unscoped(db).insertInto('usedTokens').values({ key, expiresAt })
  return (await affectedRows(spent.onConflict((conflict) => conflict.column('key').doNothing()))) === 1
}

import type { ServiceContext } from '../context.ts'
import { userKeys } from '../text/fold-text.ts'

/** Changes the name of an account, with the key columns that it is found by. */
export async function renameUser(
  { db, deps }: Pick<ServiceContext, 'db' | 'deps'>,
  id: string,
  names: { firstName: string; lastName: string },
): Promise<void> {
  const { email } = await db.user.findUniqueOrThrow({ where: { id }, select: { email: true } })
  await db.user.update({ where: { id }, data: { ...names, ...userKeys({ ...names, email }), updatedAt: deps.clock() } })
}

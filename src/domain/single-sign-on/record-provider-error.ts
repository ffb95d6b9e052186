import type { ServiceContext } from '../context.ts'

/** Milliseconds in which a repeated error is not recorded again, because anybody can cause one. */
const SAME_MS = 60_000

/** Records the last error of a provider, for its administrator. */
export async function recordProviderError(
  { db, deps }: ServiceContext,
  id: string,
  { problem, code }: { problem: string; code: string },
): Promise<void> {
  const now = deps.clock()
  const lastError = `${problem}: ${code}`
  const isOther = [
    { lastError: null },
    { lastError: { not: lastError } },
    { lastErrorAt: { lt: new Date(now.getTime() - SAME_MS) } },
  ]
  await db.signInProvider.updateMany({ where: { id, OR: isOther }, data: { lastError, lastErrorAt: now } })
}

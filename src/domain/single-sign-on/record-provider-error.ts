import type { ServiceContext } from '../context.ts'

/** Milliseconds in which an error that comes again is the one that was noted: anybody can bring it about. */
const SAME_MS = 60_000

/** Keeps what a provider did wrong last, for whoever has set it up. */
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

import type { ServiceContext } from '../context.ts'
import { DAY_MS } from '../time/days.ts'
import { inTransaction } from '../transaction.ts'
import { UNDO_WITHIN_MS } from './imports.ts'

const KEPT_FOR_MS = 30 * DAY_MS
/** Milliseconds until an import that is still loading counts as failed. */
const LOADED_WITHIN_MS = 3_600_000
/** Each may have thousands of questions. */
const IMPORTS_AT_ONCE = 20

/**
 * Deletes imports of questions that are 30 days old, unless they can still be undone, and imports that were never read to their end. Their
 * questions stay in the library.
 */
export async function deleteExpiredImports(service: ServiceContext): Promise<void> {
  const now = service.deps.clock().getTime()
  const before = (ms: number) => ({ lte: new Date(now - ms) })
  const old = {
    OR: [
      { createdAt: before(KEPT_FOR_MS), finishedAt: null },
      { createdAt: before(KEPT_FOR_MS), finishedAt: before(UNDO_WITHIN_MS) },
      { createdAt: before(LOADED_WITHIN_MS), isLoading: true },
    ],
  }
  for (let found = IMPORTS_AT_ONCE; found === IMPORTS_AT_ONCE; ) {
    const imports = await service.db.libraryImport.findMany({
      where: old,
      select: { organizationId: true, id: true },
      orderBy: { createdAt: 'asc' },
      take: IMPORTS_AT_ONCE,
    })
    for (const { organizationId, id } of imports)
      await inTransaction(service, async ({ db }) => {
        await db.libraryQuestion.updateMany({ where: { organizationId, importId: id }, data: { importId: null } })
        await db.libraryImport.deleteMany({ where: { organizationId, id } }) // and its rows
      })
    found = imports.length
  }
}

import type { ServiceContext } from '../context.ts'
import { DAY_MS } from '../time/days.ts'
import { inTransaction } from '../transaction.ts'
import { UNDO_WITHIN_MS } from './imports.ts'

/** How long it is known what became of each question of a file. */
const KEPT_FOR_MS = 30 * DAY_MS
/** Milliseconds after which an import that is still loading has failed. */
const LOADED_WITHIN_MS = 3_600_000
/** Each may have thousands of questions. */
const FORGOTTEN_AT_ONCE = 20

/**
 * Forgets files of questions that were read more than 30 days ago, unless they can still be undone, and those that were never read whole. What
 * they brought stays in the library.
 */
export async function forgetOldImports(service: ServiceContext): Promise<void> {
  const now = service.deps.clock().getTime()
  const before = (ms: number) => ({ lte: new Date(now - ms) })
  const old = {
    OR: [
      { createdAt: before(KEPT_FOR_MS), finishedAt: null },
      { createdAt: before(KEPT_FOR_MS), finishedAt: before(UNDO_WITHIN_MS) },
      { createdAt: before(LOADED_WITHIN_MS), isLoading: true },
    ],
  }
  for (let found = FORGOTTEN_AT_ONCE; found === FORGOTTEN_AT_ONCE; ) {
    const imports = await service.db.libraryImport.findMany({
      where: old,
      select: { organizationId: true, id: true },
      orderBy: { createdAt: 'asc' },
      take: FORGOTTEN_AT_ONCE,
    })
    for (const { organizationId, id } of imports)
      await inTransaction(service, async ({ db }) => {
        await db.libraryQuestion.updateMany({ where: { organizationId, importId: id }, data: { importId: null } })
        await db.libraryImport.deleteMany({ where: { organizationId, id } }) // and its rows
      })
    found = imports.length
  }
}

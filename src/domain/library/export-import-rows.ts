import type { LibraryImportRow } from '../../generated/prisma/client.ts'
import { EXPORTED_AT_ONCE, exportRows, type WriteBatch } from '../audit/run-export.ts'
import type { Context } from '../context.ts'
import { getImport } from './imports.ts'

export type ImportReportRow = Pick<LibraryImportRow, 'number' | 'line' | 'name' | 'category' | 'state' | 'notes'>

/**
 * Exports the outcome of each question of an import, in the order of the file. Not recorded in the audit log: it has no right answers.
 *
 * @throws DomainError not_permitted, library_import_not_found, too_many_exports.
 */
export async function exportImportRows(ctx: Context, importId: string, write: WriteBatch<ImportReportRow>): Promise<void> {
  const { id } = await getImport(ctx, importId)
  const select = { number: true, line: true, name: true, category: true, state: true, notes: true }
  await exportRows(
    ctx,
    (last?: ImportReportRow) =>
      ctx.db.libraryImportRow.findMany({
        where: { organizationId: ctx.organization.id, importId: id, number: { gt: last?.number ?? 0 } },
        orderBy: { number: 'asc' },
        take: EXPORTED_AT_ONCE,
        select,
      }),
    write,
  )
}

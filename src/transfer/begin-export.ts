import { setTimeout as sleep } from 'node:timers/promises'
import { recordAudit } from '../domain/audit/record-audit.ts'
import type { Context } from '../domain/context.ts'
import { suspendForMove } from '../domain/erasure/moves.ts'
import { inTransaction } from '../domain/transaction.ts'
import { exportRows, type WriteTable } from './export-rows.ts'
import { FORMAT, type RowsManifest } from './manifest.ts'
import type { ExportedName } from './tables.ts'
import { TransferError } from './transfer-error.ts'

/** Milliseconds in which requests and jobs end that began before the organization was suspended. A transaction takes 5 s at most. */
const SETTLED_AFTER_MS = 10_000

export type ExportOptions = {
  /** New place of an organization that moves, and is suspended first. Null: it goes on here. */
  movedTo: string | null
  settledAfterMs?: number
  onProgress?: (files: number) => void
}

/** Suspends an organization that moves, and records the export in the audit log. */
export async function beginExport(ctx: Context, { movedTo, settledAfterMs = SETTLED_AFTER_MS }: ExportOptions): Promise<void> {
  if (movedTo !== null) {
    await suspendForMove(ctx, { movedTo })
    await sleep(settledAfterMs)
  }
  await inTransaction(ctx, (inside) => recordAudit(inside, { action: 'exported_organization', details: { to: movedTo } }))
}

/** Writes all rows. @returns the manifest of the rows. */
export async function exportTables(
  ctx: Context,
  movedTo: string | null,
  write: WriteTable,
  omitted?: ReadonlySet<ExportedName>,
): Promise<RowsManifest> {
  const { id, name } = ctx.organization
  return {
    format: FORMAT,
    release: ctx.deps.release.version,
    exportedAt: ctx.deps.clock().toISOString(),
    organization: { id, name },
    movedTo,
    ...(await exportRows(ctx, write, omitted)),
  }
}

/** Runs work that writes to the place. @throws TransferError if its disk is full. */
export const explainFullDisk = <T>(place: string, work: () => Promise<T>): Promise<T> =>
  work().catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'ENOSPC' && cause.code !== 'EDQUOT') throw cause
    throw new TransferError(`The disk of ${place} is full. Free some space, and run the same command again.`, { cause })
  })

import type { Context, Deps } from '../context.ts'
import { DomainError } from '../errors.ts'
import { type AuditAction, recordAudit } from './record-audit.ts'

// Whole lists, as the interfaces hand them out as files: read in batches, each by a statement of its own, so that neither memory nor a
// transaction grows with the list.

/** Rows of a batch: few enough that others' requests are answered in between. */
export const EXPORTED_AT_ONCE = 500
/** Exports that a process works on at once, and those among them that are of one organization: each keeps a connection busy. */
const MAX_EXPORTS = 4
export const MAX_EXPORTS_OF_ONE = 2

/** Takes a batch; done when there is room for another. One that can't be taken any more ends the export. */
export type Write<Row> = (rows: Row[]) => Promise<void>

/** What an audit entry says of an export. */
type Exported = { action: AuditAction & `exported_${string}`; filter: Record<string, string | undefined> }

/** The organizations whose lists are being exported, by process. */
const running = new WeakMap<Deps, string[]>()

/**
 * Hands over a list in batches, and records that it did.
 *
 * @param read gets the batch that begins after a row; the first one without it. The last one has less than {@link EXPORTED_AT_ONCE}.
 * @throws DomainError too_many_exports; whatever `write` throws.
 */
export async function runExport<Row>(
  ctx: Context,
  { action, filter }: Exported,
  read: (after: Row | undefined) => Promise<Row[]>,
  write: Write<Row>,
): Promise<void> {
  const leave = enter(ctx)
  try {
    const details = Object.fromEntries(Object.entries(filter).filter(([, value]) => value))
    await recordAudit(ctx, { action, details })
    let rows: Row[] = []
    do {
      rows = await read(rows.at(-1))
      await write(rows)
    } while (rows.length === EXPORTED_AT_ONCE)
  } finally {
    leave()
  }
}

/** @returns what ends it. */
function enter({ deps, organization: { id } }: Context): () => void {
  const organizations = running.get(deps) ?? []
  running.set(deps, organizations)
  const ofOne = organizations.filter((other) => other === id).length
  if (organizations.length >= MAX_EXPORTS || ofOne >= MAX_EXPORTS_OF_ONE) throw new DomainError('too_many_exports')
  organizations.push(id)
  return () => void organizations.splice(organizations.indexOf(id), 1)
}

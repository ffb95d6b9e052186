import type { Context, Deps } from '../context.ts'
import { DomainError } from '../errors.ts'
import { type AuditField, toAuditDetails } from './audit-details.ts'
import { type AuditAction, recordAudit } from './record-audit.ts'

// Exports whole lists as files. Rows are read in batches, each by its own statement, so that neither memory nor a transaction grows with
// the list.

/** Rows of a batch: few enough that others' requests are answered in between. */
export const EXPORTED_AT_ONCE = 500
/** Concurrent exports per process, and per organization. Each keeps a database connection busy. */
const MAX_EXPORTS = 4
export const MAX_EXPORTS_OF_ONE = 2

/** Writes a batch, and resolves when there is room for another. Rejecting ends the export. */
export type WriteBatch<Row> = (rows: Row[]) => Promise<void>

type ExportDescription = { action: AuditAction & `exported_${string}`; filter: { [Field in AuditField]?: string | undefined } }

/** An export in progress. @property request its actor, list and filter; null: no other export replaces it. */
type RunningExport = { organizationId: string; request: string | null; replace: (reason: Error) => void }

/** Running exports of this process. */
const runningExports = new WeakMap<Deps, RunningExport[]>()

/** Gets the batch that begins after a row; the first one without it. The last one has less than {@link EXPORTED_AT_ONCE}. */
type ReadBatch<Row> = (after: Row | undefined) => Promise<Row[]>

/**
 * Exports a list in batches and records it in the audit log. Repeating an export cancels the same actor's running one, so that a browser
 * that lost its connection is not refused.
 *
 * @throws DomainError too_many_exports; errors of `write`.
 */
export const runExport = <Row>(
  ctx: Context,
  { action, filter }: ExportDescription,
  readBatch: ReadBatch<Row>,
  write: WriteBatch<Row>,
): Promise<void> =>
  runWithinLimits(ctx, JSON.stringify([ctx.actor, ctx.mode, action, filter]), async (replaced) => {
    await recordAudit(ctx, { action, details: toAuditDetails(Object.entries(filter).filter(isGiven)) })
    await readAll(readBatch, (rows) => Promise.race([write(rows), replaced]))
  })

/** Reads rows like an export and within its limits, without an audit entry. @throws DomainError as runExport. */
export const exportRows = <Row>(ctx: Context, readBatch: ReadBatch<Row>, write: WriteBatch<Row>): Promise<void> =>
  runWithinLimits(ctx, null, () => readAll(readBatch, write))

const isGiven = (entry: [string, string | undefined]): entry is [AuditField, string] => Boolean(entry[1])

async function readAll<Row>(readBatch: ReadBatch<Row>, write: WriteBatch<Row>): Promise<void> {
  let rows: Row[] = []
  do {
    rows = await readBatch(rows.at(-1))
    await write(rows)
  } while (rows.length === EXPORTED_AT_ONCE)
}

/** @param work gets a promise that is rejected when another export takes its place. */
async function runWithinLimits(
  ctx: Context,
  request: string | null,
  work: (replaced: Promise<never>) => Promise<void>,
): Promise<void> {
  const { promise: replaced, reject: replace } = Promise.withResolvers<never>()
  replaced.catch(() => {}) // nobody may be waiting for it
  const leave = registerExport(ctx, { organizationId: ctx.organization.id, request, replace })
  try {
    await work(replaced)
  } finally {
    leave()
  }
}

/** @returns a function that removes the export from those in progress. */
function registerExport({ deps }: Context, entering: RunningExport): () => void {
  const { organizationId, request } = entering
  const exports = runningExports.get(deps) ?? []
  runningExports.set(deps, exports)
  const leave = (running: RunningExport) => {
    const place = exports.indexOf(running)
    if (place >= 0) exports.splice(place, 1)
  }
  const isSame = (running: RunningExport) => running.organizationId === organizationId && running.request === request
  const earlier = request === null ? undefined : exports.find(isSame)
  if (earlier) {
    leave(earlier)
    earlier.replace(new Error('The same export was asked for again'))
  }
  const ofOne = exports.filter((running) => running.organizationId === organizationId).length
  if (exports.length >= MAX_EXPORTS || ofOne >= MAX_EXPORTS_OF_ONE) throw new DomainError('too_many_exports')
  exports.push(entering)
  return () => leave(entering)
}

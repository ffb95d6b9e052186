import type { Context, Deps } from '../context.ts'
import { DomainError } from '../errors.ts'
import { type AuditField, detailsOf } from './audit-details.ts'
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
type Exported = { action: AuditAction & `exported_${string}`; filter: { [Field in AuditField]?: string | undefined } }

/** The organizations whose lists are being exported, by process. */
const running = new WeakMap<Deps, string[]>()

/** Gets the batch that begins after a row; the first one without it. The last one has less than {@link EXPORTED_AT_ONCE}. */
type Read<Row> = (after: Row | undefined) => Promise<Row[]>

/**
 * Hands over a list in batches, and records that it did.
 *
 * @throws DomainError too_many_exports; whatever `write` throws.
 */
export const runExport = <Row>(ctx: Context, { action, filter }: Exported, read: Read<Row>, write: Write<Row>): Promise<void> =>
  inTurn(ctx, async () => {
    await recordAudit(ctx, { action, details: detailsOf(Object.entries(filter).filter(isGiven)) })
    await readAll(read, write)
  })

/** The same of what leaves nothing behind with whom it is shown to. @throws DomainError as runExport. */
export const handOver = <Row>(ctx: Context, read: Read<Row>, write: Write<Row>): Promise<void> =>
  inTurn(ctx, () => readAll(read, write))

/** Of what was looked for. */
const isGiven = (entry: [string, string | undefined]): entry is [AuditField, string] => Boolean(entry[1])

async function readAll<Row>(read: Read<Row>, write: Write<Row>): Promise<void> {
  let rows: Row[] = []
  do {
    rows = await read(rows.at(-1))
    await write(rows)
  } while (rows.length === EXPORTED_AT_ONCE)
}

async function inTurn(ctx: Context, work: () => Promise<void>): Promise<void> {
  const leave = enter(ctx)
  try {
    await work()
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

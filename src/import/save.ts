import { isDeepStrictEqual } from 'node:util'
import type { Connection } from '../db/client.ts'
import type { Tables } from '../db/queries.ts'
import { inBatches } from './batches.ts'
import { findLinks, type Links, replaceLinks } from './links.ts'
import type { Kind } from './match.ts'
import { createRows, type Fields, type Row, updateRows } from './write.ts'

export type WantedRow<T> = {
  id: string
  values: Partial<T>
  create: () => T
  /** Further fields of an existing row, if they depend on it. */
  deriveValues?: (current: T) => Partial<T>
  /** Counts as changed even if no column differs, because related data changed. */
  isTouched?: boolean
}

/** A table, and the lists of ids stored in link tables. */
export type Table<T> = {
  name: keyof Tables
  /** Reads rows without their lists, with states as of `now`. */
  find: (tx: Connection, ids: string[], now: Date) => Promise<(Row & Partial<T>)[]>
  links?: Record<string, Links>
}

export type RowCounts = { created: number; updated: number; unchanged: number }

/** Called for created keys, and for existing keys that differ from the document. */
export type KeyObserver = { onKey: (name: string, key: string) => void; onKeptKey: (name: string) => void }

/** The import of one organization, in its transaction. */
export type OrganizationImport = {
  tx: Connection
  organizationId: string
  now: Date
  overwriteProgress: boolean
  counts: Record<Kind, RowCounts>
  keys: KeyObserver
  /** Called with the number of rows processed since the last call. */
  advance: (rows: number) => void
  /** Deferred writes of link tables, run after all rows exist: a member may have a tag that the member created. */
  listWrites: (() => Promise<void>)[]
}

/** Rows per statement. */
const BATCH = 1_000

/** Creates missing rows and updates those that differ. @returns the ids of the rows written. */
export async function save<T extends Row>(
  run: OrganizationImport,
  table: Table<T>,
  wanted: WantedRow<T>[],
  kind?: Kind,
): Promise<Set<string>> {
  const writtenIds = new Set<string>()
  for (const batch of inBatches(wanted, BATCH)) {
    const existing = await findRows(run, table, batch)
    const missing: T[] = []
    const changes: Row[] = []
    for (const row of batch) {
      const current = existing.get(row.id)
      if (!current) missing.push({ ...row.create(), ...row.values })
      else changes.push(...findChange(run, current, row))
    }
    await createRows(run.tx, table.name, columnsOf(table, missing))
    const alike = Map.groupBy(columnsOf(table, changes), (change) => Object.keys(change).join())
    for (const rows of alike.values()) await updateRows(run.tx, table.name, rows)
    const changedRows = [...missing, ...changes]
    queueListWrites(run, table, changedRows)

    for (const { id } of changedRows) writtenIds.add(id)
    if (!kind) continue
    const counts = run.counts[kind]
    counts.created += missing.length
    counts.updated += changes.length
    counts.unchanged += batch.length - missing.length - changes.length
    run.advance(batch.length)
  }
  return writtenIds
}

async function findRows<T extends Row>(run: OrganizationImport, table: Table<T>, batch: WantedRow<T>[]): Promise<Map<string, T>> {
  const ids = batch.map(({ id }) => id)
  const rows = await table.find(run.tx, ids, run.now)
  for (const [field, links] of Object.entries(table.links ?? {})) {
    const lists = await findLinks(run.tx, links, ids)
    for (const row of rows) Object.assign(row, { [field]: lists.get(row.id) ?? [] })
  }
  return new Map(rows.map((row) => [row.id, row as T]))
}

/** The update of a row; empty if nothing differs. */
function findChange<T extends Row>(
  { now }: OrganizationImport,
  current: T,
  { id, values, deriveValues, isTouched }: WantedRow<T>,
): Row[] {
  const wanted: Fields = { ...values, ...deriveValues?.(current) }
  const differing = Object.entries(wanted).filter(([field, value]) => !isDeepStrictEqual(current[field], value))
  if (!isTouched && differing.length === 0) return []
  // A row marked as changed is written even without differences.
  const updatedAt = 'updatedAt' in current && { updatedAt: wanted.updatedAt ?? now }
  return [{ ...Object.fromEntries(differing), ...updatedAt, id }]
}

/** The rows without their lists. */
const columnsOf = <T>({ links = {} }: Table<T>, rows: Row[]): Fields[] =>
  rows.map((row) => Object.fromEntries(Object.entries(row).filter(([field]) => !(field in links))))

/** Queues writes of the rows' lists. */
function queueListWrites<T>(run: OrganizationImport, table: Table<T>, rows: Row[]): void {
  for (const [field, links] of Object.entries(table.links ?? {})) {
    const lists = rows.flatMap((row) => (row[field] ? [{ id: row.id, items: row[field] as string[] }] : []))
    if (lists.length > 0) run.listWrites.push(() => replaceLinks(run.tx, links, run.organizationId, lists))
  }
}

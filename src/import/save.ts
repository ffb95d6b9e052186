import { isDeepStrictEqual } from 'node:util'
import type { Connection } from '../db/client.ts'
import type { Tables } from '../db/own.ts'
import { inBatches } from './batches.ts'
import { findLinks, type Links, replaceLinks } from './links.ts'
import type { Kind } from './match.ts'
import { createRows, type Fields, type Row, updateRows } from './write.ts'

/** A row as the document wants it: what it gives, and the whole of it in case it is new. */
export type Wanted<T> = {
  id: string
  given: Partial<T>
  create: () => T
  /** What it gives besides to a row that is there, where that depends on the row. */
  alter?: (current: T) => Partial<T>
  /** Counts as changed even when nothing of its own differs: something kept elsewhere did. */
  touched?: boolean
}

/** A table, and the lists of ids that rows of it carry in tables of their own. */
export type Table<T> = {
  name: keyof Tables
  /** As they are at this instant, without the lists. */
  find: (tx: Connection, ids: string[], now: Date) => Promise<(Row & Partial<T>)[]>
  links?: Record<string, Links>
}

export type Counts = { created: number; updated: number; unchanged: number }

/** Told of a key that is made, and of one that the document gives otherwise than it is. */
export type KeyObserver = { onKey: (name: string, key: string) => void; onKeptKey: (name: string) => void }

/** One organization's part of an import, in its transaction. */
export type Run = {
  tx: Connection
  organizationId: string
  now: Date
  overwriteProgress: boolean
  counts: Record<Kind, Counts>
  keys: KeyObserver
  /** Called with the number of rows dealt with since the last call. */
  advance: (rows: number) => void
  /** What writes the lists of ids. It waits until all rows are there: a member may carry a tag that the member made. */
  listWrites: (() => Promise<void>)[]
}

/** Rows a statement. */
const BATCH = 1_000

/** Creates what is missing and updates what differs; no row that is as wanted is written to. @returns the ids of the rows written. */
export async function save<T extends Row>(run: Run, table: Table<T>, wanted: Wanted<T>[], kind?: Kind): Promise<Set<string>> {
  const written = new Set<string>()
  for (const batch of inBatches(wanted, BATCH)) {
    const existing = await findRows(run, table, batch)
    const missing: T[] = []
    const changes: Row[] = []
    for (const row of batch) {
      const current = existing.get(row.id)
      if (!current) missing.push({ ...row.create(), ...row.given })
      else changes.push(...findChange(run, current, row))
    }
    await createRows(run.tx, table.name, columnsOf(table, missing))
    const alike = Map.groupBy(columnsOf(table, changes), (change) => Object.keys(change).join())
    for (const rows of alike.values()) await updateRows(run.tx, table.name, rows)
    const all = [...missing, ...changes]
    noteLists(run, table, all)

    for (const { id } of all) written.add(id)
    if (!kind) continue
    const counts = run.counts[kind]
    counts.created += missing.length
    counts.updated += changes.length
    counts.unchanged += batch.length - missing.length - changes.length
    run.advance(batch.length)
  }
  return written
}

async function findRows<T extends Row>(run: Run, table: Table<T>, batch: Wanted<T>[]): Promise<Map<string, T>> {
  const ids = batch.map(({ id }) => id)
  const rows = await table.find(run.tx, ids, run.now)
  for (const [field, links] of Object.entries(table.links ?? {})) {
    const lists = await findLinks(run.tx, links, ids)
    for (const row of rows) Object.assign(row, { [field]: lists.get(row.id) ?? [] })
  }
  return new Map(rows.map((row) => [row.id, row as T]))
}

/** What to write so that the row becomes as wanted; nothing when it is already. */
function findChange<T extends Row>({ now }: Run, current: T, { id, given, alter, touched }: Wanted<T>): Row[] {
  const wanted: Fields = { ...given, ...alter?.(current) }
  const differing = Object.entries(wanted).filter(([field, value]) => !isDeepStrictEqual(current[field], value))
  if (!touched && differing.length === 0) return []
  // A row that counts as changed though nothing of it differs is written all the same, as of the time given.
  const updatedAt = 'updatedAt' in current && { updatedAt: wanted.updatedAt ?? now }
  return [{ ...Object.fromEntries(differing), ...updatedAt, id }]
}

/** The rows' own columns: the lists are in tables of their own. */
const columnsOf = <T>({ links = {} }: Table<T>, rows: Row[]): Fields[] =>
  rows.map((row) => Object.fromEntries(Object.entries(row).filter(([field]) => !(field in links))))

/** Notes to write the lists that the rows give. */
function noteLists<T>(run: Run, table: Table<T>, rows: Row[]): void {
  for (const [field, links] of Object.entries(table.links ?? {})) {
    const lists = rows.flatMap((row) => (row[field] ? [{ id: row.id, items: row[field] as string[] }] : []))
    if (lists.length > 0) run.listWrites.push(() => replaceLinks(run.tx, links, run.organizationId, lists))
  }
}

import { isDeepStrictEqual } from 'node:util'
import type { Transaction } from '../db/client.ts'
import { inBatches } from './batches.ts'
import { addLinks, clearLinks, findLinks, type Links } from './links.ts'
import type { Kind } from './match.ts'

type Identified = { id: string }

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
  /** As they are at this instant, without the lists. */
  find: (tx: Transaction, ids: string[], now: Date) => Promise<(Identified & Partial<T>)[]>
  create: (tx: Transaction, rows: T[]) => Promise<unknown>
  update: (tx: Transaction, ids: string[], change: Partial<T>) => Promise<unknown>
  links?: Record<string, Links>
}

export type Counts = { created: number; updated: number; unchanged: number }

/** One organization's part of an import, in its transaction. */
export type Run = {
  tx: Transaction
  organizationId: string
  now: Date
  overwriteProgress: boolean
  counts: Record<Kind, Counts>
  /** Called with each key that is made. */
  onKey: (name: string, key: string) => void
  /** Called with the number of rows dealt with since the last call. */
  advance: (rows: number) => void
  /** What writes the lists of ids. It waits until all rows are there: a member may carry a tag that the member made. */
  listWrites: (() => Promise<void>)[]
}

type Change = { ids: string[]; change: Record<string, unknown> }

/** Rows a statement: the widest table has 26 columns, and PostgreSQL takes 65535 parameters. */
const BATCH = 1_000

/** Creates what is missing and updates what differs; no row that is as wanted is written to. @returns the ids of the rows written. */
export async function save<T extends Identified>(
  run: Run,
  table: Table<T>,
  wanted: Wanted<T>[],
  kind?: Kind,
): Promise<Set<string>> {
  const written = new Set<string>()
  for (const batch of inBatches(wanted, BATCH)) {
    const existing = await findRows(run, table, batch)
    const missing: T[] = []
    const changes = new Map<string, Change>()
    for (const row of batch) {
      const current = existing.get(row.id)
      if (!current) missing.push({ ...row.create(), ...row.given })
      else addChange(changes, row.id, findChange(run, current, row))
    }
    await createRows(run, table, missing)
    for (const change of changes.values()) await updateRows(run, table, change)

    const changed = [...changes.values()].flatMap(({ ids }) => ids)
    for (const id of [...missing.map((row) => row.id), ...changed]) written.add(id)
    if (!kind) continue
    const counts = run.counts[kind]
    counts.created += missing.length
    counts.updated += changed.length
    counts.unchanged += batch.length - missing.length - changed.length
    run.advance(batch.length)
  }
  return written
}

async function findRows<T extends Identified>(run: Run, table: Table<T>, batch: Wanted<T>[]): Promise<Map<string, T>> {
  const ids = batch.map(({ id }) => id)
  const rows = await table.find(run.tx, ids, run.now)
  for (const [field, links] of Object.entries(table.links ?? {})) {
    const lists = await findLinks(run.tx, links, ids)
    for (const row of rows) Object.assign(row, { [field]: lists.get(row.id) ?? [] })
  }
  return new Map(rows.map((row) => [row.id, row as T]))
}

/** What to write so that the row becomes as wanted; nothing when it is already. */
function findChange<T extends object>({ now }: Run, current: T, { given, alter, touched }: Wanted<T>): Record<string, unknown> {
  const wanted: Record<string, unknown> = { ...given, ...alter?.(current) }
  const stored = new Map<string, unknown>(Object.entries(current))
  const change = Object.fromEntries(Object.entries(wanted).filter(([field, value]) => !isSame(stored.get(field), value)))
  if (!touched && Object.keys(change).length === 0) return change
  // A row that counts as changed though nothing of it differs is written all the same, as of the time given.
  if (stored.has('updatedAt')) change.updatedAt ??= wanted.updatedAt ?? now
  return change
}

const isSame = (a: unknown, b: unknown): boolean => a === b || isDeepStrictEqual(a, b)

/** Rows that change alike are updated by one statement. */
function addChange(changes: Map<string, Change>, id: string, change: Record<string, unknown>): void {
  if (Object.keys(change).length === 0) return
  const key = JSON.stringify(change)
  const alike = changes.get(key)
  if (alike) alike.ids.push(id)
  else changes.set(key, { ids: [id], change })
}

async function createRows<T extends Identified>(run: Run, table: Table<T>, rows: T[]): Promise<void> {
  if (rows.length === 0) return
  const columns = rows.map((row) => without(row, Object.keys(table.links ?? {})))
  await table.create(run.tx, columns)
  for (const [field, links] of Object.entries(table.links ?? {})) {
    const lists = rows.map((row) => ({ id: row.id, items: (row as Record<string, unknown>)[field] as string[] }))
    run.listWrites.push(() => addLinks(run.tx, links, run.organizationId, lists))
  }
}

async function updateRows<T extends Identified>(run: Run, table: Table<T>, { ids, change }: Change): Promise<void> {
  const columns = without(change, Object.keys(table.links ?? {}))
  if (Object.keys(columns).length > 0) await table.update(run.tx, ids, columns as Partial<T>)
  for (const [field, links] of Object.entries(table.links ?? {})) {
    const items = change[field] as string[] | undefined
    if (items === undefined) continue
    const lists = ids.map((id) => ({ id, items }))
    run.listWrites.push(async () => {
      await clearLinks(run.tx, links, ids)
      await addLinks(run.tx, links, run.organizationId, lists)
    })
  }
}

const without = <T extends object>(row: T, fields: string[]): T =>
  Object.fromEntries(Object.entries(row).filter(([field]) => !fields.includes(field))) as T

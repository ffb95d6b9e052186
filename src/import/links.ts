import type { Transaction } from '../db/client.ts'
import { Prisma } from '../generated/prisma/client.ts'
import { inBatches } from './batches.ts'

/** A table that keeps an ordered list of ids for each row of another. */
export type Links = { table: Prisma.Sql; owner: Prisma.Sql; item: Prisma.Sql }

type OwnedList = { id: string; items: string[] }

/** Links a statement, however they are spread over their owners. A list that is longer is read and deleted by one all the same. */
const BATCH = 5_000

export const links = (table: string, owner: string, item: string): Links => ({
  table: Prisma.raw(table),
  owner: Prisma.raw(owner),
  item: Prisma.raw(item),
})

/** The lists by their owners' ids; those that are empty are left out. */
export async function findLinks(tx: Transaction, links: Links, ids: string[]): Promise<Map<string, string[]>> {
  const { table, owner, item } = links
  const lists = new Map<string, string[]>()
  for (const owners of await groupByLength(tx, links, ids)) {
    const rows = await tx.$queryRaw<OwnedList[]>`
      SELECT ${owner} AS id, array_agg(${item}::text ORDER BY position, ${item}) AS items
      FROM ${table} WHERE ${owner} = ANY(${owners}::uuid[]) GROUP BY ${owner}`
    for (const { id, items } of rows) lists.set(id, items)
  }
  return lists
}

/** Writes whole lists in their order, in place of those that are there. */
export async function replaceLinks(tx: Transaction, links: Links, organizationId: string, lists: OwnedList[]): Promise<void> {
  const { table, owner, item } = links
  const ids = lists.map(({ id }) => id)
  for (const owners of await groupByLength(tx, links, ids))
    await tx.$executeRaw`DELETE FROM ${table} WHERE ${owner} = ANY(${owners}::uuid[])`
  const rows = lists.flatMap(({ id, items }) => items.map((linked, position) => ({ id, linked, position })))
  for (const batch of inBatches(rows, BATCH)) {
    await tx.$executeRaw`
      INSERT INTO ${table} (organization_id, ${owner}, ${item}, position)
      SELECT ${organizationId}::uuid, * FROM unnest(
        ${batch.map(({ id }) => id)}::uuid[], ${batch.map(({ linked }) => linked)}::uuid[], ${batch.map(({ position }) => position)}::int[])`
  }
}

/** The owners that have links, in groups with as many as a statement takes. */
async function groupByLength(tx: Transaction, { table, owner }: Links, ids: string[]): Promise<string[][]> {
  const lengths = await tx.$queryRaw<{ id: string; length: number }[]>`
    SELECT ${owner} AS id, count(*)::int AS length FROM ${table} WHERE ${owner} = ANY(${ids}::uuid[]) GROUP BY ${owner}`
  const groups: string[][] = []
  let room = 0
  for (const { id, length } of lengths) {
    if (groups.length === 0 || length > room) {
      groups.push([])
      room = BATCH
    }
    groups.at(-1)!.push(id)
    room -= length
  }
  return groups
}

import type { Transaction } from '../db/client.ts'
import { Prisma } from '../generated/prisma/client.ts'

/** A table that keeps an ordered list of ids for each row of another. */
export type Links = { table: Prisma.Sql; owner: Prisma.Sql; item: Prisma.Sql }

type OwnedList = { id: string; items: string[] }

export const links = (table: string, owner: string, item: string): Links => ({
  table: Prisma.raw(table),
  owner: Prisma.raw(owner),
  item: Prisma.raw(item),
})

/** The lists by their owners' ids; those that are empty are left out. */
export async function findLinks(tx: Transaction, { table, owner, item }: Links, ids: string[]): Promise<Map<string, string[]>> {
  const rows = await tx.$queryRaw<OwnedList[]>`
    SELECT ${owner} AS id, array_agg(${item}::text ORDER BY position, ${item}) AS items
    FROM ${table} WHERE ${owner} = ANY(${ids}::uuid[]) GROUP BY ${owner}`
  return new Map(rows.map(({ id, items }) => [id, items]))
}

export async function clearLinks(tx: Transaction, { table, owner }: Links, ids: string[]): Promise<void> {
  await tx.$executeRaw`DELETE FROM ${table} WHERE ${owner} = ANY(${ids}::uuid[])`
}

/** Writes whole lists in their order. */
export async function addLinks(
  tx: Transaction,
  { table, owner, item }: Links,
  organizationId: string,
  lists: OwnedList[],
): Promise<void> {
  const rows = lists.flatMap(({ id, items }) => items.map((linked, position) => ({ id, linked, position })))
  if (rows.length === 0) return
  await tx.$executeRaw`
    INSERT INTO ${table} (organization_id, ${owner}, ${item}, position)
    SELECT ${organizationId}::uuid, * FROM unnest(
      ${rows.map(({ id }) => id)}::uuid[], ${rows.map(({ linked }) => linked)}::uuid[], ${rows.map(({ position }) => position)}::int[])`
}

import type { Connection } from '../db/client.ts'
import { anyOfIds, type Tables } from '../db/queries.ts'
import { unscoped } from '../db/unscoped.ts'
import { inBatches } from './batches.ts'
import { createRows } from './write.ts'

/** A table with an ordered list of ids for each row of another table. All such tables are typed like inviteTags. */
export type Links = { table: 'inviteTags'; owner: 'inviteId'; item: 'tagId' }
type LinkTable = { [T in keyof Tables]: Tables[T] extends { organizationId: string; position: number } ? T : never }[keyof Tables]

type OwnedList = { id: string; items: string[] }

/** Rows per statement, over several owners. The list of one owner is never split. */
const BATCH = 5_000

export const links = <T extends LinkTable>(table: T, owner: keyof Tables[T], item: keyof Tables[T]): Links =>
  ({ table, owner, item }) as Links

/** Reads the lists by owner id, without empty ones. */
export async function findLinks(tx: Connection, links: Links, ids: string[]): Promise<Map<string, string[]>> {
  const { table, owner, item } = links
  const lists = new Map<string, string[]>()
  for (const owners of await groupByLength(tx, links, ids)) {
    const linked = unscoped(tx).selectFrom(table).where(owner, '=', anyOfIds(owners)).groupBy(owner)
    const rows = await linked
      .select((eb) => {
        const items = eb.fn
          .agg<string[]>('array_agg', [eb.cast<string>(item, 'text')])
          .orderBy('position')
          .orderBy(item)
        return [eb.ref(owner).as('id'), items.as('items')]
      })
      .execute()
    for (const { id, items } of rows) lists.set(id, items)
  }
  return lists
}

/** Replaces whole lists. */
export async function replaceLinks(tx: Connection, links: Links, organizationId: string, lists: OwnedList[]): Promise<void> {
  const { table, owner, item } = links
  const ids = lists.map(({ id }) => id)
  for (const owners of await groupByLength(tx, links, ids))
    await unscoped(tx).deleteFrom(table).where(owner, '=', anyOfIds(owners)).execute()
  const rows = lists.flatMap(({ id, items }) =>
    items.map((linked, position) => ({ organizationId, [owner]: id, [item]: linked, position })),
  )
  for (const batch of inBatches(rows, BATCH)) await createRows(tx, table, batch)
}

/** Groups owners so that each group has at most BATCH links. */
async function groupByLength(tx: Connection, { table, owner }: Links, ids: string[]): Promise<string[][]> {
  const linked = unscoped(tx).selectFrom(table).where(owner, '=', anyOfIds(ids)).groupBy(owner)
  const lengths = await linked
    .select((eb) => [eb.ref(owner).as('id'), eb.cast<number>(eb.fn.countAll(), 'integer').as('length')])
    .execute()
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

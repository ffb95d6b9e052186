import type { PoolClient } from 'pg'

type Definition = { table: string; name: string; definition: string }

/** Fills tables without their foreign keys and those of their indexes that nothing hangs on; both are made anew at the end, as they were. */
export async function withoutIndexes<T>(client: PoolClient, tables: string[], work: () => Promise<T>): Promise<T> {
  const keys = await client.query<Definition>(
    `SELECT conrelid::regclass::text AS table, quote_ident(conname) AS name, pg_get_constraintdef(oid) AS definition
     FROM pg_constraint WHERE contype = 'f' AND conrelid = ANY($1::regclass[])`,
    [tables],
  )
  for (const { table, name } of keys.rows) await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`)
  const indexes = await client.query<Definition>(
    `SELECT indrelid::regclass::text AS table, indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition
     FROM pg_index WHERE indrelid = ANY($1::regclass[]) AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)`,
    [tables],
  )
  for (const { name } of indexes.rows) await client.query(`DROP INDEX ${name}`)
  const result = await work()
  console.error(`  ${indexes.rows.length} indexes and ${keys.rows.length} foreign keys`)
  for (const { definition } of indexes.rows) await client.query(definition)
  for (const { table, name, definition } of keys.rows)
    await client.query(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition}`)
  return result
}

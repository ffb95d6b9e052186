import { Client } from 'pg'

// Hash-partitions every table of organizations in PostgreSQL, to check that the schema can be distributed. Unique keys of a partitioned table
// have to include the partition key. See docs/performance.md, Citus.

const PARTITIONS = 4

/** Selects the tables of organizations. */
const TABLES = `SELECT oid::regclass::text AS name FROM pg_class c WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
  AND EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND attname = 'organization_id' AND NOT attisdropped) ORDER BY 1`

/** Selects a table's indexes, which the partitioned table gets too. A unique index without the organization id becomes an ordinary one. */
const INDEXES = `SELECT i.relname AS name, pg_get_indexdef(indexrelid) AS definition, indisprimary AS "isPrimary", indisunique AS "isUnique",
  ARRAY(SELECT attname::text FROM unnest(indkey::int2[]) WITH ORDINALITY k (attnum, place) JOIN pg_attribute a ON a.attrelid = indrelid
    AND a.attnum = k.attnum ORDER BY place) AS columns
  FROM pg_index JOIN pg_class i ON i.oid = indexrelid WHERE indrelid = $1::regclass ORDER BY 1`
type Index = { name: string; definition: string; isPrimary: boolean; isUnique: boolean; columns: string[] }

const REFERENCES = `SELECT conrelid::regclass::text AS table, conname AS name, pg_get_constraintdef(oid) AS definition FROM pg_constraint
  WHERE contype = 'f' AND connamespace = 'public'::regnamespace ORDER BY 1, 2`
const TRIGGERS = `SELECT pg_get_triggerdef(oid) AS definition FROM pg_trigger WHERE NOT tgisinternal AND tgrelid = $1::regclass`
/** Selects the indexes of partitions, to give them the parent's names, because a constraint violation names the partition's index. */
const NAMES_OF_PARTITIONS = `SELECT child.relnamespace::regnamespace::text AS schema, child.relname AS child, parent.relname AS name
  FROM pg_inherits
  JOIN pg_class child ON child.oid = inhrelid JOIN pg_class parent ON parent.oid = inhparent WHERE parent.relkind = 'I'`

/** Partitions the tables of organizations, which must be empty. Their primary keys become organization and id. */
export async function partitionByOrganization(url: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const ask = async <Row extends object>(sql: string) => (await client.query<Row>(sql)).rows
  try {
    await client.query('BEGIN')
    const references = await ask<{ table: string; name: string; definition: string }>(REFERENCES)
    for (const { table, name } of references) await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`)
    await client.query('CREATE SCHEMA undivided')
    for (let n = 0; n < PARTITIONS; n++) await client.query(`CREATE SCHEMA part_${n}`)
    for (const { name } of await ask<{ name: string }>(TABLES)) await divide(client, name)
    await client.query('DROP SCHEMA undivided CASCADE')
    for (const { table, name, definition } of references)
      await client.query(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition}`)
    const named = await ask<{ schema: string; child: string; name: string }>(NAMES_OF_PARTITIONS)
    // Rename in two steps, because PostgreSQL's generated names may collide with ours.
    for (const { schema, child, name } of named) await client.query(`ALTER INDEX ${schema}.${child} RENAME TO "_${name}"`)
    for (const { schema, name } of named) await client.query(`ALTER INDEX ${schema}."_${name}" RENAME TO ${name}`)
    await client.query('COMMIT')
  } finally {
    await client.end()
  }
}

async function divide(client: Client, table: string): Promise<void> {
  const { rows: indexes } = await client.query<Index>(INDEXES, [table])
  const { rows: triggers } = await client.query<{ definition: string }>(TRIGGERS, [table])
  await client.query(`ALTER TABLE ${table} SET SCHEMA undivided`)
  await client.query(
    `CREATE TABLE ${table} (LIKE undivided.${table} INCLUDING ALL EXCLUDING INDEXES) PARTITION BY HASH (organization_id)`,
  )
  for (let n = 0; n < PARTITIONS; n++)
    await client.query(
      `CREATE TABLE part_${n}.${table} PARTITION OF ${table} FOR VALUES WITH (MODULUS ${PARTITIONS}, REMAINDER ${n})`,
    )
  for (const statement of indexes.map((index) => keep(table, index))) if (statement) await client.query(statement)
  for (const { definition } of triggers) await client.query(definition)
}

function keep(table: string, { name, definition, isPrimary, isUnique, columns }: Index): string | false {
  const namesOrganization = columns.includes('organization_id')
  if (isPrimary) return namesOrganization && `ALTER TABLE ${table} ADD CONSTRAINT ${name} PRIMARY KEY (${columns.join(', ')})`
  if (name === `${table}_organization_id_key`)
    return `ALTER TABLE ${table} ADD CONSTRAINT ${table}_pkey PRIMARY KEY (${columns.join(', ')})`
  return isUnique && !namesOrganization ? definition.replace('CREATE UNIQUE INDEX', 'CREATE INDEX') : definition
}

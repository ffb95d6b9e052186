import type { Client } from 'pg'

const QUERIES = [
  `SELECT table_name, column_name, data_type, udt_name, is_nullable, column_default FROM information_schema.columns WHERE table_schema = 'public'`,
  `SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'`,
  `SELECT indexrelid::regclass::text AS invalid FROM pg_index WHERE NOT indisvalid`,
  `SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace`,
  `SELECT tgrelid::regclass::text, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal`,
  `SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace`,
  `SELECT relname, reloptions FROM pg_class WHERE relnamespace = 'public'::regnamespace AND reloptions IS NOT NULL`,
  `SELECT enumtypid::regtype::text, enumlabel FROM pg_enum ORDER BY enumtypid::regtype::text, enumsortorder`,
]

/** Reads everything in the public schema that a migration can change, in an order that does not depend on the order of migrations. */
export async function readSchema(client: Client): Promise<string[]> {
  const lines: string[] = []
  for (const query of QUERIES) lines.push(...(await client.query(query)).rows.map((row) => JSON.stringify(row)).sort())
  return lines
}

import type { Client } from 'pg'

/** The name and the definition of each object of the public schema, by kind. */
const QUERIES: Record<string, string> = {
  extension: `SELECT extname AS name, '' AS definition FROM pg_extension`,
  type: `SELECT t.typname AS name, string_agg(quote_literal(e.enumlabel), ', ' ORDER BY e.enumsortorder) AS definition
    FROM pg_type t JOIN pg_enum e ON e.enumtypid = t.oid WHERE t.typnamespace = 'public'::regnamespace GROUP BY t.typname`,
  table: `SELECT relname AS name, concat_ws(' ', relkind, relpersistence, relreplident, relrowsecurity, relforcerowsecurity, reloptions::text,
      obj_description(oid, 'pg_class')) AS definition
    FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind NOT IN ('i', 'S', 'c')`,
  column: `SELECT attrelid::regclass || '.' || attname AS name, concat_ws(' ', format_type(atttypid, atttypmod),
      CASE WHEN attnotnull THEN 'NOT NULL' END, 'DEFAULT ' || pg_get_expr(d.adbin, d.adrelid),
      'identity ' || nullif(attidentity::text, ''), 'generated ' || nullif(attgenerated::text, ''), 'collation ' || nullif(attcollation, 0)::regcollation::text,
      'storage ' || attstorage::text, 'compression ' || nullif(attcompression::text, ''), 'statistics ' || nullif(attstattarget, -1), attoptions::text,
      col_description(attrelid, attnum)) AS definition
    FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid LEFT JOIN pg_attrdef d ON d.adrelid = attrelid AND d.adnum = attnum
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'c') AND attnum > 0 AND NOT attisdropped`,
  order: `SELECT attrelid::regclass::text AS name, string_agg(attname, ', ' ORDER BY attnum) AS definition
    FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND attnum > 0 AND NOT attisdropped GROUP BY attrelid`,
  index: `SELECT c.relname AS name, concat_ws(' ', pg_get_indexdef(indexrelid), CASE WHEN NOT indisvalid THEN 'INVALID' END,
      CASE WHEN indisreplident THEN 'REPLICA IDENTITY' END, CASE WHEN indisclustered THEN 'CLUSTERED' END) AS definition
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relnamespace = 'public'::regnamespace`,
  constraint: `SELECT coalesce(nullif(conrelid, 0)::regclass::text, '') || '.' || conname AS name,
      concat_ws(' ', pg_get_constraintdef(oid), CASE WHEN NOT convalidated THEN 'NOT VALID' END) AS definition
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace`,
  function: `SELECT oid::regprocedure::text AS name, pg_get_functiondef(oid) AS definition
    FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prokind IN ('f', 'p', 'w')`,
  trigger: `SELECT tgrelid::regclass || '.' || tgname AS name, pg_get_triggerdef(oid) || ' enabled ' || tgenabled::text AS definition
    FROM pg_trigger WHERE NOT tgisinternal`,
  sequence: `SELECT s.sequencename AS name, concat_ws(' ', data_type, start_value, min_value, max_value, increment_by, cycle, cache_size,
      'last', last_value, 'owned by', (SELECT refobjid::regclass || '.' || a.attname FROM pg_depend
        JOIN pg_attribute a ON a.attrelid = refobjid AND a.attnum = refobjsubid
        WHERE objid = format('%I', sequencename)::regclass AND deptype IN ('a', 'i'))) AS definition
    FROM pg_sequences s WHERE schemaname = 'public'`,
  statistics: `SELECT stxname AS name, pg_get_statisticsobjdef(oid) AS definition FROM pg_statistic_ext WHERE stxnamespace = 'public'::regnamespace`,
  rule: `SELECT tablename || '.' || rulename AS name, definition FROM pg_rules WHERE schemaname = 'public'`,
  policy: `SELECT tablename || '.' || policyname AS name, concat_ws(' ', cmd, qual, with_check) AS definition FROM pg_policies WHERE schemaname = 'public'`,
  grant: `SELECT relname AS name, relacl::text AS definition FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relacl IS NOT NULL`,
  setting: `SELECT coalesce(d.datname, '') || ' ' || coalesce(r.rolname, '') AS name, setconfig::text AS definition
    FROM pg_db_role_setting LEFT JOIN pg_database d ON d.oid = setdatabase LEFT JOIN pg_roles r ON r.oid = setrole
    WHERE setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))`,
}

/** Reads every object of the public schema, and the rows of each table. Leaves out the history of migrations. */
export async function describeDatabase(client: Client): Promise<Map<string, string>> {
  const objects = new Map<string, string>()
  for (const [kind, query] of Object.entries(QUERIES)) {
    const { rows } = await client.query<{ name: string; definition: string }>(query)
    for (const { name, definition } of rows)
      if (!name.startsWith('_prisma_migrations')) objects.set(`${kind} ${name}`, definition)
  }
  for (const name of [...objects.keys()].filter((name) => name.startsWith('table '))) {
    const { rows } = await client.query(`SELECT to_jsonb(t)::text AS row FROM ${name.slice('table '.length)} AS t ORDER BY 1`)
    objects.set(`rows of ${name.slice('table '.length)}`, rows.map(({ row }) => row).join('\n'))
  }
  return objects
}

/** Returns the objects that differ. A definition is undefined where the object does not exist. */
export function compareDatabases(first: Map<string, string>, second: Map<string, string>) {
  const names = [...new Set([...first.keys(), ...second.keys()])].sort()
  return names
    .filter((name) => first.get(name) !== second.get(name))
    .map((name) => ({ name, first: first.get(name), second: second.get(name) }))
}

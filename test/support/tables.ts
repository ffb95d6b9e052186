import type { Service } from './service.ts'

/** Returns the tables of any schema that contain one of these texts, unchanged, in hex, or in base64. */
export async function findInTables({ db }: Service, texts: string[]): Promise<string[]> {
  const spellings = texts.flatMap((text) => [
    text,
    Buffer.from(text).toString('hex'),
    Buffer.from(text).toString('base64').replace(/=+$/, ''),
  ])
  const tables = await db.$queryRaw<{ name: string }[]>`
    SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
    WHERE table_schema NOT IN ('pg_catalog', 'information_schema') AND table_type = 'BASE TABLE'`
  if (!tables.some(({ name }) => name === 'public.api_keys')) throw new Error('The tables could not be read')
  const found: string[] = []
  for (const { name } of tables) {
    const rows = await db.$queryRawUnsafe<{ text: string }[]>(`SELECT t::text AS text FROM ${name} t`)
    if (rows.some(({ text }) => spellings.some((spelling) => text.includes(spelling)))) found.push(name)
  }
  return found
}

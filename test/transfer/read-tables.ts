import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { TABLES_FOLDER } from '../../src/transfer/manifest.ts'

/** Matches audit entries that exports and imports add. */
const OF_TRANSFERS = /"action":"(exported|imported|resumed)_organization"/

/** Reads the lines of each non-empty table of an export, without the audit entries that exports and imports add. */
export async function readTables(folder: string): Promise<Record<string, string[]>> {
  const tables: Record<string, string[]> = {}
  for (const file of (await readdir(path.join(folder, TABLES_FOLDER))).sort()) {
    const lines = (await readFile(path.join(folder, TABLES_FOLDER, file), 'utf8')).split('\n')
    const rows = lines.filter((line) => line !== '' && !OF_TRANSFERS.test(line))
    if (rows.length > 0) tables[path.basename(file, '.jsonl')] = rows
  }
  return tables
}

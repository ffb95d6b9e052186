import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { TABLES_FOLDER } from '../../src/transfer/manifest.ts'

/** Entries of the audit log that an export and an import add. */
const OF_TRANSFERS = /"action":"(exported|imported|resumed)_organization"/

/** Lines of each table of an export that has any, without what exports themselves have added to the audit log. */
export async function readTables(folder: string): Promise<Record<string, string[]>> {
  const tables: Record<string, string[]> = {}
  for (const file of (await readdir(path.join(folder, TABLES_FOLDER))).sort()) {
    const lines = (await readFile(path.join(folder, TABLES_FOLDER, file), 'utf8')).split('\n')
    const rows = lines.filter((line) => line !== '' && !OF_TRANSFERS.test(line))
    if (rows.length > 0) tables[path.basename(file, '.jsonl')] = rows
  }
  return tables
}

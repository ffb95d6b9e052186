// node .ci/released-migrations.ts: fails when a migration of a release has been changed, renamed, or removed since, or when a new one sorts
// before it. A database that was made by that release would be refused, or have another schema than a fresh one.
// node .ci/released-migrations.ts --record: records the migrations of a release. Before the first record, any migration may be edited.
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { type Migration, readMigrations } from '../src/db/migrations.ts'

const RECORD = path.join(import.meta.dirname, '../docs/released/migrations.json')

/** Returns a line for each problem. `released` maps names to checksums. */
export function findMigrationProblems(released: Record<string, string>, present: Migration[]): string[] {
  const checksums = new Map(present.map(({ name, checksum }) => [name, checksum]))
  const last = Object.keys(released).sort().at(-1)
  return [
    ...Object.keys(released)
      .filter((name) => !checksums.has(name))
      .map((name) => `${name} is released and must not be renamed or removed: bring it back.`),
    ...Object.entries(released)
      .filter(([name, checksum]) => checksums.has(name) && checksums.get(name) !== checksum)
      .map(([name]) => `${name} is released and must not be changed: restore its file, and put the change into a new migration.`),
    ...present
      .filter(({ name }) => last !== undefined && name < last && !(name in released))
      .map(({ name }) => `${name} sorts before ${last}, which is released: give it a later date.`),
  ]
}

async function readRecord(): Promise<Record<string, string>> {
  return JSON.parse(
    await readFile(RECORD, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '{}'
      throw error
    }),
  )
}

if (import.meta.main) {
  const present = await readMigrations()
  const problems = findMigrationProblems(await readRecord(), present)
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) process.exit(1)
  if (process.argv.includes('--record')) {
    const record = Object.fromEntries(present.map(({ name, checksum }) => [name, checksum]))
    await writeFile(RECORD, `${JSON.stringify(record, null, 2)}\n`)
  }
}

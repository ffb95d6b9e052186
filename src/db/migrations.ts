import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'

/** A migration as its file describes it. */
export type Migration = {
  name: string
  sql: string
  /** SHA-256 of the file, hexadecimal, as Prisma Migrate records it. */
  checksum: string
  /** Set for a migration that can't be in a transaction: the index that its one statement makes or drops. */
  index: string | undefined
}

export const MIGRATIONS_FOLDER = path.join(import.meta.dirname, '../../prisma/migrations')

/** The first line of a migration that can't be in a transaction. */
export const NO_TRANSACTION = '-- no-transaction'
/** What such a migration may be: a statement that can be run again when it was interrupted. */
const INDEX_STATEMENT =
  /^(?:CREATE (?:UNIQUE )?INDEX CONCURRENTLY IF NOT EXISTS|DROP INDEX CONCURRENTLY IF EXISTS) "(?<index>\w+)"[^;]*;$/

/**
 * The migrations in a folder of Prisma's kind, in the order in which they are applied.
 *
 * @throws Error when one that can't be in a transaction is not of the form that it needs.
 */
export async function readMigrations(folder = MIGRATIONS_FOLDER): Promise<Migration[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  return Promise.all(
    names.sort().map(async (name) => describe(name, await readFile(path.join(folder, name, 'migration.sql'), 'utf8'))),
  )
}

function describe(name: string, sql: string): Migration {
  const checksum = createHash('sha256').update(sql).digest('hex')
  if (!sql.startsWith(`${NO_TRANSACTION}\n`)) return { name, sql, checksum, index: undefined }
  const index = INDEX_STATEMENT.exec(sql.replaceAll(/^--.*$/gm, '').trim())?.groups?.index
  if (index === undefined)
    throw new Error(
      `The migration ${name} must be one statement, CREATE INDEX CONCURRENTLY IF NOT EXISTS "…" or DROP INDEX CONCURRENTLY IF EXISTS "…".`,
    )
  return { name, sql, checksum, index }
}

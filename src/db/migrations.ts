import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'

/** A migration, as described in its file. */
export type Migration = {
  name: string
  sql: string
  /** SHA-256 of the file, hexadecimal, as Prisma Migrate records it. */
  checksum: string
  /** True if its only statement can't run in a transaction. */
  isAlone: boolean
  /** The index that this statement makes or drops. */
  index: string | undefined
}

/** The first migration. A database that was made without this text of it was made before 1.0. */
export const BASELINE = '00000000000000_baseline'

export const MIGRATIONS_FOLDER = path.join(import.meta.dirname, '../../prisma/migrations')

/** The first line of a migration that can't be in a transaction. */
export const NO_TRANSACTION = '-- no-transaction'
/** Allowed statement: a block that commits in batches, and can run again after an interruption. */
const BLOCK = /^DO \$\$\n[^$]*\bCOMMIT;[^$]*\$\$;$/
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
  const checksum = computeChecksum(sql)
  if (!sql.startsWith(`${NO_TRANSACTION}\n`)) return { name, sql, checksum, isAlone: false, index: undefined }
  const statement = sql.replaceAll(/^ *--.*$/gm, '').trim()
  const index = INDEX_STATEMENT.exec(statement)?.groups?.index
  if (index === undefined && !BLOCK.test(statement))
    throw new Error(
      `The migration ${name} must be one statement, CREATE INDEX CONCURRENTLY IF NOT EXISTS "…", DROP INDEX CONCURRENTLY IF EXISTS "…", or a DO block that commits.`,
    )
  return { name, sql, checksum, isAlone: true, index }
}

/** As Prisma Migrate does. */
export const computeChecksum = (sql: string): string => createHash('sha256').update(sql).digest('hex')

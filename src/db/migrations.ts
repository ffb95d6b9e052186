import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'

/** A migration as its file describes it. */
export type Migration = {
  name: string
  sql: string
  /** SHA-256 of the file, hexadecimal, as Prisma Migrate records it. */
  checksum: string
  /** Whether its one statement can't be in a transaction. */
  isAlone: boolean
  /** The index that this statement makes or drops. */
  index: string | undefined
}

/**
 * Checksums of earlier texts of a migration, by its name. A migration that has landed is never edited: `.ci/landed-migrations.ts` sees
 * to that. This one was, before that was checked; databases that were migrated in between are accepted.
 * - 1b66a721… lacks the replacement of invites_due_idx, 99b9a6ed… differs in a comment only.
 * - 20261121130000_next_due_idx and 20261121130100_drop_due_idx take databases of all three texts to the same schema.
 */
export const EARLIER_CHECKSUMS: Record<string, string[]> = {
  '20261121121000_invite_list_indexes': [
    '1b66a721865c80bfd66aee81cd18e9513010be586cd8344a7c9bbbebb334a386',
    '99b9a6ed84d0a40d5aea4e5937467daa33b4ccd07fd2a31d1e26204b07eef9a4',
  ],
}

export const MIGRATIONS_FOLDER = path.join(import.meta.dirname, '../../prisma/migrations')

/** The first line of a migration that can't be in a transaction. */
export const NO_TRANSACTION = '-- no-transaction'
/** What such a migration may be: a statement that can be run again when it was interrupted. A block commits what it does batch by batch. */
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

/** Whether that checksum is of the migration's text, present or earlier. */
export const isKnownText = ({ name, checksum }: Migration, recorded: string): boolean =>
  recorded === checksum || (EARLIER_CHECKSUMS[name] ?? []).includes(recorded)

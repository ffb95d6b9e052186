import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import { MIGRATIONS_FOLDER } from '../../src/db/migrations.ts'

/** Copies the migrations to a folder for the duration of the test, and adds migrations, as in a newer release. */
export async function copyMigrations(added: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'assessments-migrations-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await cp(MIGRATIONS_FOLDER, folder, { recursive: true })
  await Promise.all(Object.entries(added).map(([name, sql]) => writeMigration(folder, name, sql)))
  return folder
}

/** Adds a migration to a folder, or replaces its SQL. */
export async function writeMigration(folder: string, name: string, sql: string): Promise<void> {
  await mkdir(path.join(folder, name), { recursive: true })
  await writeFile(path.join(folder, name, 'migration.sql'), sql)
}

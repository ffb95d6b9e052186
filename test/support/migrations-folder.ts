import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import { MIGRATIONS_FOLDER } from '../../src/db/migrations.ts'

/** Copies the migrations to a folder for the duration of the test, with more of them, as a newer release has. */
export async function copyMigrations(added: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'assessments-migrations-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await cp(MIGRATIONS_FOLDER, folder, { recursive: true })
  await Promise.all(Object.entries(added).map(([name, sql]) => writeMigration(folder, name, sql)))
  return folder
}

/** Adds a migration to a folder of them, or replaces its text. */
export async function writeMigration(folder: string, name: string, sql: string): Promise<void> {
  await mkdir(path.join(folder, name), { recursive: true })
  await writeFile(path.join(folder, name, 'migration.sql'), sql)
}

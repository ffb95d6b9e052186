import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import { MIGRATIONS_FOLDER } from '../../src/db/migrations.ts'

/** A copy of the migrations, as another release has them, for the duration of the test: without those after `last`, and with others. */
export async function copyMigrations({ last, texts }: { last?: string; texts: Record<string, string> }): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'assessments-migrations-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const isWanted = (name: string) => last === undefined || name <= last
  const names = (await readdir(MIGRATIONS_FOLDER)).filter(isWanted)
  await Promise.all(names.map((name) => cp(path.join(MIGRATIONS_FOLDER, name), path.join(folder, name), { recursive: true })))
  await Promise.all(Object.entries(texts).map(([name, sql]) => writeMigration(folder, name, sql)))
  return folder
}

/** Adds a migration to a folder of them, or replaces its text. */
export async function writeMigration(folder: string, name: string, sql: string): Promise<void> {
  await mkdir(path.join(folder, name), { recursive: true })
  await writeFile(path.join(folder, name, 'migration.sql'), sql)
}

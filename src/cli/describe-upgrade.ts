import { readFile } from 'node:fs/promises'
import path from 'node:path'

const ROOT = path.join(import.meta.dirname, '../..')

/** Migrations of each release, oldest release first: their checksums by name. */
export type ReleasedMigrations = Record<string, Record<string, string>>

/** Reads the record that `npm run release` writes. */
export const readReleasedMigrations = async (): Promise<ReleasedMigrations> =>
  JSON.parse(await readFile(path.join(ROOT, 'docs/released/migrations.json'), 'utf8'))

/** @returns one line about the releases that an upgrade passes over, and what operators have to do before it; '' if there is nothing to say. */
export const describeUpgrade = async (pending: string[]): Promise<string> =>
  formatUpgrade(pending, await readReleasedMigrations(), await readFile(path.join(ROOT, 'CHANGELOG.md'), 'utf8'))

export function formatUpgrade(pending: string[], released: ReleasedMigrations, changelog: string): string {
  const versions = Object.keys(released)
  const isApplied = (version: string) => Object.keys(released[version]!).every((name) => !pending.includes(name))
  const firstMissing = versions.findIndex((version) => !isApplied(version))
  // An empty database, or only migrations that are not released yet.
  if (firstMissing <= 0) return ''
  const missing = versions.slice(firstMissing)
  const skipped = missing.slice(0, -1)
  const tasks = missing.flatMap((version) => readTasks(changelog, version).map((task) => `${version}: ${task}`))
  return [
    `This upgrades from ${versions[firstMissing - 1]} to ${missing.at(-1)}`,
    skipped.length > 0 && `, skipping ${skipped.join(', ')}`,
    tasks.length > 0 && `. Before upgrading: ${tasks.join(' ')}`,
  ]
    .filter(Boolean)
    .join('')
}

/** Items of "Before upgrading" of a release, each on one line. */
function readTasks(changelog: string, version: string): string[] {
  const section = changelog.split(/^## /m).find((text) => text.startsWith(`[${version}]`)) ?? ''
  const tasks = section.split(/^### /m).find((text) => text.startsWith('Before upgrading\n')) ?? ''
  return tasks
    .split(/^- /m)
    .slice(1)
    .map((task) => task.replaceAll(/\s+/g, ' ').trim())
}

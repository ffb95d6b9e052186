// node .ci/released-migrations.ts: fails if a released migration was changed, renamed, or removed, or if a new one sorts before it. The service
// would refuse databases created by that release, or their schema would differ from a new one. .ci/release.ts records the migrations of a
// release. Before the first record, any migration may be edited.
import { type ReleasedMigrations, readReleasedMigrations } from '../src/cli/describe-upgrade.ts'
import { type Migration, readMigrations } from '../src/db/migrations.ts'

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

/** Adds a release with the migrations that no earlier one has. @throws Error if a released migration was changed. */
export function recordRelease(record: ReleasedMigrations, version: string, present: Migration[]): ReleasedMigrations {
  const released = Object.assign({}, ...Object.values(record))
  const problems = findMigrationProblems(released, present)
  if (problems.length > 0) throw new Error(problems.join('\n'))
  const added = present.filter(({ name }) => !(name in released)).map(({ name, checksum }) => [name, checksum])
  return { ...record, [version]: Object.fromEntries(added) }
}

if (import.meta.main) {
  const released = Object.assign({}, ...Object.values(await readReleasedMigrations()))
  const problems = findMigrationProblems(released, await readMigrations())
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) process.exit(1)
}

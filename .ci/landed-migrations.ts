// node .ci/landed-migrations.ts: fails when a migration that stands in a commit of the history has been changed, renamed or removed
// since. A database may have been migrated from any commit; it would be refused, or have another schema than a fresh one.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { computeChecksum, EARLIER_CHECKSUMS } from '../src/db/migrations.ts'

const FILES = 'prisma/migrations/*/migration.sql'

/**
 * What is wrong with the landed migrations of a checkout, a line each; empty when all is well. Goes by the history of what is checked out,
 * whatever remotes and branches there are.
 *
 * @returns `partly` when not all of the history is there, as in a shallow clone or without any.
 */
export async function findChangedMigrations(checkout: string): Promise<{ problems: string[]; partly: boolean }> {
  if (!existsSync(path.join(checkout, '.git'))) return { problems: [], partly: true }
  const git = (...args: string[]) => execFileSync('git', ['-C', checkout, ...args], { encoding: 'utf8', maxBuffer: 2 ** 28 })
  const problems: string[] = []
  for (const [file, blobs] of readLandedTexts(git)) {
    const present = await readFile(path.join(checkout, file), 'utf8').catch(() => undefined)
    if (present === undefined) {
      problems.push(`${file} has landed, and must not be renamed or removed: bring it back.`)
      continue
    }
    const known = [computeChecksum(present), ...(EARLIER_CHECKSUMS[path.basename(path.dirname(file))] ?? [])]
    const changed = blobs.filter((blob) => !known.includes(computeChecksum(git('cat-file', 'blob', blob))))
    if (changed.length > 0)
      problems.push(
        `${file} has landed as git's blob ${changed[0]}, and must not be changed: put that back, and the change into a new migration.`,
      )
  }
  return { problems, partly: git('rev-parse', '--is-shallow-repository').trim() === 'true' }
}

/** Every content (git's blobs) that each migration has had in a commit of this branch's history, or of what was merged into it. */
function readLandedTexts(git: (...args: string[]) => string): Map<string, string[]> {
  const blobs = new Map<string, Set<string>>()
  // ":<mode> <mode> <blob before> <blob after> <how>\t<path>"; none after where it was removed.
  const changes = git('log', '--format=', '--raw', '--no-abbrev', '--no-renames', '--full-history', '-m', 'HEAD', '--', FILES)
  for (const [, blob, file] of changes.matchAll(/^:\d+ \d+ \w+ (\w+) \w\t(.+)$/gm)) {
    if (!/^0+$/.test(blob!)) blobs.set(file!, (blobs.get(file!) ?? new Set()).add(blob!))
  }
  return new Map([...blobs].map(([file, found]) => [file, [...found]]))
}

if (import.meta.main) {
  const { problems, partly } = await findChangedMigrations('.')
  if (partly) process.stdout.write('The history is not all here: the migrations were compared with what there is of it.\n')
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) process.exit(1)
}

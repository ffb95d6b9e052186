// npm run release -- 1.1.0: commits a release. Sets the version in all files that name it, dates the changelog's section, and records the OpenAPI
// documents and the checksums of the migrations under docs/released. The first release records the version that is already in package.json.
// Pushing the tag that it prints publishes the image.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import manifest from '../package.json' with { type: 'json' }
import { readReleasedMigrations } from '../src/cli/describe-upgrade.ts'
import { readMigrations } from '../src/db/migrations.ts'
import { recordRelease } from './released-migrations.ts'

/** Maps each file that names the version, except the lock file, to the text around it. */
const PLACES: Record<string, (version: string) => string> = {
  'package.json': (version) => `"version": "${version}"`,
  'docker-compose.yml': (version) => `image: assessment-invitation-service:${version}`,
  Dockerfile: (version) => `org.opencontainers.image.version="${version}"`,
  'ops/kubernetes/base/kustomization.yaml': (version) => `newTag: "${version}"`,
}

class Refused extends Error {}

function check(version: string | undefined, released: string[]): asserts version is string {
  if (version === undefined || !/^\d+\.\d+\.\d+$/.test(version)) throw new Refused('Usage: npm run release -- 1.1.0')
  const isFirst = released.length === 0 && version === manifest.version
  if (!isFirst && compare(version, manifest.version) <= 0) throw new Refused(`${version} is not above ${manifest.version}`)
  const changes = execFileSync('git', ['status', '--porcelain'], { encoding: 'utf8' })
  if (changes !== '') throw new Refused(`Commit or remove these first:\n${changes}`)
}

function compare(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number)) as [number[], number[]]
  const i = left.findIndex((part, index) => part !== right[index])
  return i < 0 ? 0 : left[i]! - right[i]!
}

/** Returns the new texts of the files that name the version. */
function setVersion(version: string): [file: string, text: string][] {
  const places = Object.entries(PLACES).map(([file, format]): [string, string] => {
    const text = readFileSync(file, 'utf8')
    if (!text.includes(format(manifest.version))) throw new Refused(`${file} lacks ${format(manifest.version)}`)
    return [file, text.replace(format(manifest.version), format(version))]
  })
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  lock.version = version
  lock.packages[''].version = version
  return [...places, ['package-lock.json', formatJson(lock)]]
}

const formatJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

/** Moves unreleased changes into the release's section. The section of the first release is written by hand. */
export function releaseChanges(changelog: string, version: string, day: string): string {
  const [, unreleased] = /^## \[Unreleased\]\n([\s\S]*?)(?=^## \[|$(?![\s\S]))/m.exec(changelog) ?? []
  if (unreleased === undefined) throw new Refused('CHANGELOG.md has no section [Unreleased]')
  const isWritten = changelog.includes(`\n## [${version}] `)
  if (isWritten && unreleased.trim() === '') return changelog
  if (isWritten) throw new Refused(`CHANGELOG.md has [${version}] and unreleased changes: move them there`)
  if (unreleased.trim() === '') throw new Refused('CHANGELOG.md has no unreleased changes')
  return changelog.replace(/^## \[Unreleased\]\n/m, `## [Unreleased]\n\n## [${version}] - ${day}\n`)
}

async function release(version: string | undefined): Promise<void> {
  const record = await readReleasedMigrations()
  check(version, Object.keys(record))
  const next = recordRelease(record, version, await readMigrations())
  const day = new Date().toISOString().slice(0, 10)
  // All checks come before the first write.
  const texts = [
    ...setVersion(version),
    ['CHANGELOG.md', releaseChanges(readFileSync('CHANGELOG.md', 'utf8'), version, day)],
    ['docs/released/migrations.json', formatJson(next)],
  ] as const
  for (const [file, text] of texts) writeFileSync(file, text)
  execFileSync('node', ['.ci/write-openapi.ts', 'docs/released'], { stdio: 'inherit' })
  execFileSync('git', ['commit', '--quiet', '--all', `--message=Release ${version}`], { stdio: 'inherit' })
  process.stdout.write(`Committed. To publish: git tag v${version} && git push origin HEAD v${version}\n`)
}

if (import.meta.main) {
  process.chdir(path.join(import.meta.dirname, '..'))
  await release(process.argv[2]).catch((error) => {
    if (!(error instanceof Refused)) throw error
    console.error(error.message)
    process.exitCode = 1
  })
}

import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { releaseChanges } from '../../.ci/release.ts'
import manifest from '../../package.json' with { type: 'json' }
import { readCommit } from '../../src/runtime/version.ts'
import { makeDataDir } from '../support/data-dir.ts'

const changelogOf = (unreleased: string) =>
  `# Changelog\n\n## [Unreleased]\n${unreleased}\n## [${manifest.version}] - 2026-01-01\n\n- Everything.\n`

/** Copies the working tree into a new Git repository with one commit and no release. */
async function makeClone() {
  const folder = await makeDataDir()
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' })
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' })
  for (const file of listed.split('\0').filter((name) => name !== '' && !name.startsWith('docs/images/')))
    cpSync(file, path.join(folder, file), { recursive: true })
  cpSync('src/generated', path.join(folder, 'src/generated'), { recursive: true })
  symlinkSync(path.resolve('node_modules'), path.join(folder, 'node_modules'))
  git('init', '--quiet')
  git('config', 'user.name', 'Tester')
  git('config', 'user.email', 'tester@example.com')
  // node_modules is a symbolic link here, which a line of .gitignore with a trailing slash would not match.
  writeFileSync(path.join(folder, '.git/info/exclude'), 'node_modules\n')
  const commit = (message: string) => {
    git('add', '--all')
    git('commit', '--quiet', `--message=${message}`)
  }
  const read = (file: string) => readFileSync(path.join(folder, file), 'utf8')
  const write = (file: string, text: string) => {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
    writeFileSync(path.join(folder, file), text)
  }
  write('docs/released/migrations.json', '{}\n')
  write('CHANGELOG.md', changelogOf(''))
  commit('Start')
  return {
    folder,
    git,
    commit,
    read,
    write,
    release: (version: string) => {
      const { status, stdout, stderr } = spawnSync('node', ['.ci/release.ts', version], { cwd: folder, encoding: 'utf8' })
      return { status, output: stdout + stderr }
    },
  }
}

const FIRST = manifest.version
const [major] = FIRST.split('.').map(Number)
const NEXT = `${major! + 1}.0.0`
const MIGRATION = '20990101000000_example'
const MIGRATION_FILE = `prisma/migrations/${MIGRATION}/migration.sql`

it('commits the first release and the next, with their versions, changes, documents, and migrations', async () => {
  const clone = await makeClone()
  expect(readCommit(clone.folder)).toBe(clone.git('rev-parse', 'HEAD').trim())
  expect(clone.release('0.9.0')).toMatchObject({ status: 1, output: `0.9.0 is not above ${FIRST}\n` })
  clone.write('README.md', 'changed')
  expect(clone.release(FIRST)).toMatchObject({ status: 1, output: expect.stringContaining('first:\n M README.md') })
  clone.git('checkout', '--quiet', 'README.md')
  expect(clone.release(FIRST)).toMatchObject({ status: 0, output: expect.stringContaining(`git tag v${FIRST}`) })
  const recorded = JSON.parse(clone.read('docs/released/migrations.json'))
  expect(Object.keys(recorded)).toEqual([FIRST])
  expect(Object.keys(recorded[FIRST])).toContain('00000000000000_baseline')
  expect(clone.release(FIRST).output).toBe(`${FIRST} is not above ${FIRST}\n`)
  expect(clone.release(NEXT).output).toBe('CHANGELOG.md has no unreleased changes\n')

  clone.write(MIGRATION_FILE, 'SELECT 1;\n')
  clone.write('CHANGELOG.md', changelogOf('\n### Added\n\n- A thing.\n'))
  clone.commit('Add a thing')
  expect(clone.release(NEXT)).toMatchObject({ status: 0 })
  expect(clone.git('status', '--porcelain')).toBe('')
  expect(clone.git('log', '-1', '--format=%s')).toBe(`Release ${NEXT}\n`)
  expect(Object.keys(JSON.parse(clone.read('docs/released/migrations.json'))[NEXT])).toEqual([MIGRATION])
  const heading = new RegExp(
    `## \\[Unreleased\\]\n\n## \\[${NEXT}\\] - \\d{4}-\\d\\d-\\d\\d\n\n### Added\n\n- A thing\\.\n\n## \\[${FIRST}\\]`,
  )
  expect(clone.read('CHANGELOG.md')).toMatch(heading)
  expect(JSON.parse(clone.read('package.json')).version).toBe(NEXT)
  expect(JSON.parse(clone.read('package-lock.json')).packages[''].version).toBe(NEXT)
  expect(clone.read('Dockerfile')).toContain(`org.opencontainers.image.version="${NEXT}"`)
  expect(clone.read('docker-compose.yml')).toContain(`image: assessment-invitation-service:${NEXT}`)
  expect(clone.read('ops/kubernetes/base/kustomization.yaml')).toContain(`newTag: "${NEXT}"`)

  clone.write(MIGRATION_FILE, 'SELECT 2;\n')
  clone.commit('Change a released migration')
  expect(clone.release(`${major! + 2}.0.0`).output).toContain(`${MIGRATION} is released and must not be changed`)
}, 120_000)

describe('the changelog of a release', () => {
  it('is rejected if it has unreleased changes and a section for the version', () => {
    expect(() => releaseChanges('## [Unreleased]\n\n- A thing.\n\n## [1.0.0] - 2026-01-01\n', '1.0.0', '2026-01-01')).toThrow(
      'move them there',
    )
  })
})

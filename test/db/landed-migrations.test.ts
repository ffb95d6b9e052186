import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { findChangedMigrations } from '../../.ci/landed-migrations.ts'
import { writeMigration } from '../support/migrations-folder.ts'

const FIRST = '20270101000000_first'
const EDITED = '20261121121000_invite_list_indexes'

/** A repository with a migration in its first commit, and how to go on with it. */
async function createRepository() {
  const checkout = await mkdtemp(path.join(tmpdir(), 'assessments-repository-'))
  onTestFinished(() => rm(checkout, { recursive: true }))
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', checkout, '-c', 'user.name=x', '-c', 'user.email=x@example.com', ...args])
  const write = (sql: string, name = FIRST) => writeMigration(path.join(checkout, 'prisma/migrations'), name, sql)
  const commit = () => {
    git('add', '--all')
    git('commit', '--quiet', '--message', 'x')
  }
  git('init', '--quiet', '--initial-branch', 'trunk')
  await write('SELECT 1;')
  commit()
  return { checkout, git, write, commit }
}

const problemsIn = async (checkout: string) => (await findChangedMigrations(checkout)).problems

it('accepts migrations that are as they landed, and new ones, changed as often as one likes before they are committed', async () => {
  const { checkout, write, commit } = await createRepository()
  await write('SELECT 2;', '20270102000000_second')
  await write('SELECT 3;', '20270102000000_second')
  expect(await findChangedMigrations(checkout)).toEqual({ problems: [], partly: false })
  commit()
  expect(await problemsIn(checkout)).toEqual([])
})

it('finds a landed migration that was changed, before it is committed, after, and when it came in by a merge', async () => {
  const { checkout, git, write, commit } = await createRepository()
  const changed = [expect.stringMatching(`${FIRST}/migration.sql has landed as git's blob [0-9a-f]{40}, and must not be changed`)]
  await write('SELECT 2;')
  expect(await problemsIn(checkout)).toEqual(changed)
  commit()
  await write('-- other files', '20270103000000_third')
  commit()
  expect(await problemsIn(checkout)).toEqual(changed)

  git('checkout', '--quiet', '-b', 'other', 'HEAD~2')
  git('commit', '--quiet', '--allow-empty', '--message', 'x')
  expect(await problemsIn(checkout)).toEqual([])
  git('merge', '--quiet', '--no-edit', 'trunk')
  expect(await problemsIn(checkout)).toEqual(changed)
})

it('finds one that was removed or renamed', async () => {
  const { checkout, git, commit } = await createRepository()
  git('mv', `prisma/migrations/${FIRST}`, 'prisma/migrations/20270101000000_renamed')
  const problem = [`prisma/migrations/${FIRST}/migration.sql has landed, and must not be renamed or removed: bring it back.`]
  expect(await problemsIn(checkout)).toEqual(problem)
  commit()
  expect(await problemsIn(checkout)).toEqual(problem)
})

it('accepts the earlier texts that the runner knows, and no other one of that migration', async () => {
  const { checkout, write, commit } = await createRepository()
  const texts = ['first', 'second'].map((which) => path.join(import.meta.dirname, `earlier-texts/${EDITED}.${which}.sql`))
  for (const text of [...texts, path.join('prisma/migrations', EDITED, 'migration.sql')]) {
    await write(await readFile(text, 'utf8'), EDITED)
    commit()
  }
  expect(await problemsIn(checkout)).toEqual([])
  await write('SELECT 1;', EDITED)
  expect(await problemsIn(checkout)).toHaveLength(1)
})

it('compares in a shallow clone with what is there, and says so; also without any history', async () => {
  const { checkout, git, write, commit } = await createRepository()
  await write('SELECT 2;', '20270102000000_second')
  commit()
  const clone = `${checkout}-clone`
  onTestFinished(() => rm(clone, { recursive: true }))
  git('clone', '--quiet', '--depth', '1', '--origin', 'elsewhere', `file://${checkout}`, clone)
  expect(await findChangedMigrations(clone)).toEqual({ problems: [], partly: true })
  await writeMigration(path.join(clone, 'prisma/migrations'), FIRST, 'SELECT 3;')
  expect(await problemsIn(clone)).toHaveLength(1)
  await rm(path.join(clone, '.git'), { recursive: true })
  expect(await findChangedMigrations(clone)).toEqual({ problems: [], partly: true })
})

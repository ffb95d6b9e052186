import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { findMigrationProblems } from '../../.ci/released-migrations.ts'
import { BASELINE, computeChecksum, readMigrations } from '../../src/db/migrations.ts'
import { writeMigration } from '../support/migrations-folder.ts'

describe('findMigrationProblems', () => {
  const NEXT = '20270101000000_next'
  const released = { [BASELINE]: computeChecksum('SELECT 1;'), [NEXT]: computeChecksum('SELECT 2;') }
  let folder: string
  const problems = async (record: Record<string, string> = released) =>
    findMigrationProblems(record, await readMigrations(folder))

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'assessments-released-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    await writeMigration(folder, BASELINE, 'SELECT 1;')
    await writeMigration(folder, NEXT, 'SELECT 2;')
  })

  it('accepts unchanged released migrations, and later ones', async () => {
    await writeMigration(folder, '20270102000000_later', 'SELECT 3;')
    expect(await problems()).toEqual([])
  })

  it('accepts any change before the first release', async () => {
    await writeMigration(folder, BASELINE, 'SELECT 2;')
    expect(await problems({})).toEqual([])
  })

  it('rejects a released migration that has changed', async () => {
    await writeMigration(folder, BASELINE, 'SELECT 3;')
    expect(await problems()).toEqual([expect.stringMatching(`^${BASELINE} is released and must not be changed`)])
  })

  it('rejects a released migration that is missing', async () => {
    await rm(path.join(folder, BASELINE), { recursive: true })
    expect(await problems()).toEqual([expect.stringMatching(`^${BASELINE} is released and must not be renamed or removed`)])
  })

  it('rejects a new migration that sorts before a released one', async () => {
    await writeMigration(folder, '20261231000000_early', 'SELECT 3;')
    expect(await problems()).toEqual([`20261231000000_early sorts before ${NEXT}, which is released: give it a later date.`])
  })
})

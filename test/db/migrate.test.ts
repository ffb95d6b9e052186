import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { PrismaPg } from '@prisma/adapter-pg'
import { Client } from 'pg'
import { beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { listMigrations, loadSchemaEngine } from '../../prisma/schema-engine.ts'
import { findPendingMigrations, migrate } from '../../src/db/migrate.ts'
import { copyDatabase } from '../support/copy-database.ts'
import { createEmptyDatabase } from '../support/empty-database.ts'
import { copyMigrations } from '../support/migrations-folder.ts'
import { readSchema } from '../support/schema.ts'

let names: string[]
beforeAll(async () => {
  const entries = await readdir(path.join(import.meta.dirname, '../../prisma/migrations'), { withFileTypes: true })
  names = entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
})

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}
const readTables = async (client: Client) => {
  const { rows } = await client.query(`SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1`)
  return rows.map(({ table_name }) => table_name as string)
}

describe('an empty database', () => {
  it('is migrated once', async () => {
    const url = await createEmptyDatabase()
    expect(await migrate(url)).toEqual(names)
    expect(await migrate(url)).toEqual([])
    const client = await connect(url)
    expect(await readTables(client)).toEqual(await readTables(await connect(inject('templateUrl'))))
  })

  it('is migrated once by concurrent processes', async () => {
    const url = await createEmptyDatabase()
    const applied = await Promise.all([migrate(url), migrate(url), migrate(url)])
    expect(applied.toSorted((a, b) => b.length - a.length)).toEqual([names, [], []])
  })

  it('lacks all migrations, and checking for them changes nothing', async () => {
    const url = await createEmptyDatabase()
    expect(await findPendingMigrations(url)).toEqual(names)
    expect(await readTables(await connect(url))).toEqual([])
    await migrate(url)
    expect(await findPendingMigrations(url)).toEqual([])
  })

  it("gets a history that Prisma's own tool accepts: name, checksum, finish time, one step", async () => {
    const url = await createEmptyDatabase()
    await migrate(url)
    const { rows } = await (await connect(url)).query('SELECT * FROM _prisma_migrations ORDER BY migration_name')
    expect(rows.map(({ migration_name }) => migration_name)).toEqual(names)
    for (const row of rows) {
      expect(row).toMatchObject({
        checksum: expect.stringMatching(/^[0-9a-f]{64}$/),
        rolled_back_at: null,
        applied_steps_count: 1,
      })
      expect(row.finished_at).toBeInstanceOf(Date)
      expect(row.finished_at >= row.started_at).toBe(true)
    }
    const engine = await loadSchemaEngine(new PrismaPg({ connectionString: url }))
    const input = { migrationsList: await listMigrations(), filters: { externalTables: [], externalEnums: [] } }
    expect(await engine.applyMigrations(input)).toEqual({ appliedMigrationNames: [] })
    expect(await engine.diagnoseMigrationHistory({ ...input, optInToShadowDatabase: false })).toMatchObject({
      editedMigrationNames: [],
      failedMigrationNames: [],
      history: null,
    })
  })
})

describe('a database from before 1.0', () => {
  it.each([
    ['by another chain of migrations', `UPDATE _prisma_migrations SET migration_name = '20261121090000_foundation'`],
    ['by a baseline with another text', `UPDATE _prisma_migrations SET checksum = repeat('0', 64)`],
  ])('is rejected if created %s, and stays unchanged', async (_what, sql) => {
    const url = await copyDatabase()
    const client = await connect(url)
    await client.query(sql)
    const history = async () => (await client.query('SELECT * FROM _prisma_migrations')).rows
    const [before, schema] = [await history(), await readSchema(client)]
    await expect(migrate(url)).rejects.toThrow(/^Made before 1.0: start on an empty database.$/)
    await expect(findPendingMigrations(url)).rejects.toThrow(/^Made before 1.0: start on an empty database.$/)
    expect(await history()).toEqual(before)
    expect(await readSchema(client)).toEqual(schema)
  })
})

describe('a database whose history differs from the files', () => {
  const LATER = '29990101000000_later'
  const withLater = (sql: string) => copyMigrations({ [LATER]: sql })

  it('is rejected if a migration was changed after being applied', async () => {
    const url = await copyDatabase()
    await migrate(url, { folder: await withLater('SELECT 1;') })
    await expect(migrate(url, { folder: await withLater('SELECT 2;') })).rejects.toThrow(
      `The migration ${LATER} was changed after it had been applied: restore its file.`,
    )
  })

  it('is rejected if a migration was left unfinished', async () => {
    const url = await copyDatabase()
    await migrate(url, { folder: await withLater('SELECT 1;') })
    await (await connect(url)).query('UPDATE _prisma_migrations SET finished_at = NULL WHERE migration_name = $1', [LATER])
    await expect(migrate(url, { folder: await withLater('SELECT 1;') })).rejects.toThrow(
      `The migration ${LATER} was left unfinished`,
    )
  })

  it('is rejected if it has a migration of a newer release', async () => {
    const url = await copyDatabase()
    await migrate(url, { folder: await withLater('SELECT 1;') })
    const message = `The database has the migration ${LATER}, which this version does not know`
    await expect(migrate(url)).rejects.toThrow(message)
    await expect(findPendingMigrations(url)).rejects.toThrow(message)
  })

  it.each([
    ['the next minor version', [0, 1, 0], true],
    ['a later patch', [0, 0, 1], true],
    ['this version', [0, 0, 0], false],
    ['the minor version after the next', [0, 2, 0], false],
    ['another major version', [1, 1, 0], false],
  ])('is accepted only if both versions can run side by side: with a migration of %s', async (_, above, isAccepted) => {
    const url = await copyDatabase()
    await migrate(url, { folder: await withLater('SELECT 1;') })
    const appliedBy = manifest.version.split('.').map((part, i) => Number(part) + above[i]!)
    await (await connect(url)).query('UPDATE _prisma_migrations SET logs = $2 WHERE migration_name = $1', [
      LATER,
      appliedBy.join('.'),
    ])
    const migrating = migrate(url).then(String, (error: Error) => error.message)
    expect(await migrating).toBe(
      isAccepted
        ? ''
        : `The database has the migration ${LATER}, which this version does not know: run the version that made it, or a newer one.`,
    )
  })

  it('is accepted if the other migration was rolled back', async () => {
    const url = await copyDatabase()
    const client = await connect(url)
    await client.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, rolled_back_at) VALUES ('x', 'x', 'failed', now())`,
    )
    expect(await migrate(url)).toEqual([])
  })
})

describe('a failing migration', () => {
  it('changes nothing, is reported with its cause, and can be applied after a fix', async () => {
    const url = await createEmptyDatabase()
    const client = await connect(url)
    await client.query('CREATE TABLE invites (id int)')
    await expect(migrate(url)).rejects.toThrow(
      `The migration ${names[0]} failed and was rolled back: relation "invites" already exists`,
    )
    expect(await readTables(client)).toEqual(['_prisma_migrations', 'invites'])
    expect((await client.query('SELECT * FROM _prisma_migrations')).rows).toEqual([])
    await client.query('DROP TABLE invites')
    expect(await migrate(url)).toEqual(names)
  })
})

import { Client } from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { copyDatabase } from '../support/copy-database.ts'
import { launchService, startProcess } from '../support/processes.ts'

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

const NEWER = `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at)
  VALUES (gen_random_uuid(), 'x', $1, now(), $2)`

it('stays ready while a newer release migrates the database, unless its own migrations are missing', async () => {
  const url = await copyDatabase()
  const client = await connect(url)
  const service = await startProcess({ DATABASE_URL: url, ROLE: 'api' })
  const ready = async () => {
    const answer = await fetch(`${service.url}/readyz`)
    return [answer.status, await answer.json()]
  }
  await client.query(NEWER, ['29990101000000_under_way', null])
  expect(await ready()).toEqual([200, { status: 'ready', problems: [] }])
  await client.query(NEWER, ['29990102000000_done', new Date()])
  expect(await ready()).toEqual([200, { status: 'ready', problems: [] }])
  await client.query(`DELETE FROM _prisma_migrations WHERE migration_name LIKE '%_baseline'`)
  expect(await ready()).toEqual([503, { status: 'not ready', problems: ['migrations'] }])
})

it('refuses to start on the database of a newer release, and says why', async () => {
  const url = await copyDatabase()
  const client = await connect(url)
  await client.query(NEWER, ['29990101000000_done', new Date()])
  for (const args of [['src/server.ts'], ['src/cli.ts', 'migrate'], ['src/cli.ts', 'org', 'list']]) {
    const older = launchService({ DATABASE_URL: url }, args)
    expect((await older.exited).code).toBe(1)
    expect(older.output()).toContain(
      'The database has the migration 29990101000000_done, which this version does not know: run the version that made it, or a newer one.',
    )
  }
})

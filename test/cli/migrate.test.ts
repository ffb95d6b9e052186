import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { migrate } from '../../src/db/migrate.ts'
import { createEmptyDatabase } from '../support/empty-database.ts'
import { layDatabaseLine } from '../support/line.ts'
import { launchService } from '../support/processes.ts'
import { runCli } from './run-cli.ts'

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

const readTables = async (client: Client) =>
  (
    await client.query(
      `SELECT oid::regclass::text AS name FROM pg_class WHERE relkind = 'r' AND relnamespace::regnamespace::text !~ '^(pg_|inf)'`,
    )
  ).rows

test.each([
  ['org create', ['org', 'create', 'Acme']],
  ['key create', ['key', 'create', 'Acme', 'First']],
  ['mail list', ['mail', 'list']],
])('rejects %s on an outdated database, changes nothing, and says what to do', async (_name, args) => {
  const url = await createEmptyDatabase()
  const client = await connect(url)
  const refusal = (what: string) => ({
    code: 1,
    stdout: '',
    stderr: `error: The ${what} is not up to date. Run: npm run cli -- migrate\n`,
  })
  expect(await runCli(args, { DATABASE_URL: url })).toEqual(refusal('database'))
  expect(await readTables(client)).toEqual([])

  await migrate(url)
  const before = await readTables(client)
  expect(await runCli(args, { DATABASE_URL: url })).toEqual(refusal('queue'))
  expect(await readTables(client)).toEqual(before)
})

test('migrates tables and queue, after which every command works', async () => {
  const DATABASE_URL = await createEmptyDatabase()
  expect((await runCli(['migrate'], { DATABASE_URL })).stdout).toMatch(/^(applied \d{14}_\w+\n)+$/)
  expect(await runCli(['mail', 'list'], { DATABASE_URL })).toMatchObject({ code: 0, stderr: '' })
})

test('migrates the database before an import', async () => {
  const DATABASE_URL = await createEmptyDatabase()
  const document = JSON.stringify({ organizations: [{ name: 'Acme' }] })
  expect(await runCli(['import', '-'], { DATABASE_URL }, document)).toMatchObject({ code: 0, stderr: '' })
})

test('waits for a database that is still starting', async () => {
  const url = await createEmptyDatabase()
  const line = await layDatabaseLine(url, { mended: false })
  const command = launchService({ DATABASE_URL: line.url }, ['src/cli.ts', 'migrate'])
  await command.waitForLog('waiting for the database')
  await line.mend()
  expect((await command.exited).code, command.output()).toBe(0)
  expect(await migrate(url)).toEqual([])
})

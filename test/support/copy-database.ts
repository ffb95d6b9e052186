import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { inject } from 'vitest'
import { addCleanup } from './endings.ts'

/** PostgreSQL's error code for a database with open connections. */
const IN_USE = '55006'

/** Creates a new, migrated database. It is dropped at the end of the test, or of the file if called outside a test. */
export async function copyDatabase(): Promise<string> {
  const url = new URL(inject('templateUrl'))
  const template = url.pathname.slice(1)
  const name = `test_${randomBytes(6).toString('hex')}`
  await administer(async (client) => {
    // PostgreSQL can't copy the same database twice at once, so test files that start together take turns.
    await client.query('SELECT pg_advisory_lock(1)')
    // Copy the files: the default strategy logs each page, and takes twice the processor time.
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`)
  })
  addCleanup(() => dropDatabase(name))
  url.pathname = `/${name}`
  return url.href
}

/**
 * Drops a database, because hundreds of them would fill the memory file system, see database.ts. One with open connections stays until the
 * server's folder is removed.
 */
const dropDatabase = (name: string): Promise<void> =>
  administer(async (client) => void (await client.query(`DROP DATABASE IF EXISTS ${name}`))).catch((error) => {
    if (error.code !== IN_USE) throw error
  })

async function administer(work: (client: Client) => Promise<void>): Promise<void> {
  const url = new URL(inject('templateUrl'))
  url.pathname = '/postgres'
  const client = new Client({ connectionString: url.href })
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}

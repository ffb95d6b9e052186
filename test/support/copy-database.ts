import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { inject } from 'vitest'
import { whenOver } from './endings.ts'

/** PostgreSQL's code for a database that somebody is connected to. */
const IN_USE = '55006'

/** A fresh, migrated database of the caller's own. It is dropped at the end of the test, or of the file outside of one. */
export async function copyDatabase(): Promise<string> {
  const url = new URL(inject('templateUrl'))
  const template = url.pathname.slice(1)
  const name = `test_${randomBytes(6).toString('hex')}`
  await administer(async (client) => {
    // PostgreSQL copies a database only while nobody else does: files that start at once take turns.
    await client.query('SELECT pg_advisory_lock(1)')
    // By its files: to log each page as well takes twice the processor time.
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`)
  })
  whenOver(() => dropDatabase(name))
  url.pathname = `/${name}`
  return url.href
}

/** Many hundreds would fill the memory they lie in, see database.ts. What somebody has left a connection to goes with the server. */
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

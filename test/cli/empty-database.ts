import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { inject } from 'vitest'

/** A database with nothing in it, not even our tables. */
export async function emptyDatabase(options: string): Promise<string> {
  const url = new URL(inject('templateUrl'))
  url.pathname = '/postgres'
  const client = new Client({ connectionString: url.href })
  await client.connect()
  const name = `test_${randomBytes(6).toString('hex')}`
  await client.query(`CREATE DATABASE ${name} TEMPLATE template0 ${options}`)
  await client.end()
  url.pathname = `/${name}`
  return url.href
}

import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { inject } from 'vitest'

/** Creates a database without tables. @param options SQL options for CREATE DATABASE. */
export async function createEmptyDatabase(options = ''): Promise<string> {
  const url = new URL(inject('templateUrl'))
  const name = `empty_${randomBytes(6).toString('hex')}`
  url.pathname = '/postgres'
  const admin = new Client({ connectionString: url.href })
  await admin.connect()
  await admin.query(`CREATE DATABASE ${name} TEMPLATE template0 ${options}`)
  await admin.end()
  url.pathname = `/${name}`
  return url.href
}

import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { inject } from 'vitest'

/** A fresh, migrated database of the caller's own. */
export async function copyDatabase(): Promise<string> {
  const template = new URL(inject('templateUrl'))
  const name = `test_${randomBytes(6).toString('hex')}`
  const admin = new URL(template)
  admin.pathname = '/postgres'
  const client = new Client({ connectionString: admin.href })
  await client.connect()
  // PostgreSQL copies a database only while nobody else does: files that start at once take turns.
  await client.query('SELECT pg_advisory_lock(1)')
  await client.query(`CREATE DATABASE ${name} TEMPLATE ${template.pathname.slice(1)}`)
  await client.end()
  const url = new URL(template)
  url.pathname = `/${name}`
  return url.href
}

import path from 'node:path'
import { Client } from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { migrate } from '../../src/db/migrate.ts'
import { compareDatabases, describeDatabase } from '../support/describe-database.ts'
import { createEmptyDatabase } from '../support/empty-database.ts'

const BASELINE = path.join(import.meta.dirname, '../../prisma/baseline')

describe('prisma/baseline', () => {
  let chain: Map<string, string>
  let client: Client

  beforeAll(async () => {
    const urls = [await createEmptyDatabase(), await createEmptyDatabase()] as const
    await migrate(urls[0])
    await migrate(urls[1], { folder: BASELINE })
    const first = new Client({ connectionString: urls[0] })
    await first.connect()
    chain = await describeDatabase(first)
    await first.end()
    client = new Client({ connectionString: urls[1] })
    await client.connect()
    return () => client.end()
  })

  it('makes the same database as the chain of migrations: every object, column order, and row', async () => {
    expect(compareDatabases(chain, await describeDatabase(client))).toEqual([])
  })

  it.each([
    ['type tier', `ALTER TYPE tier ADD VALUE 'other'`],
    ['table events', 'ALTER TABLE events RESET (autovacuum_vacuum_scale_factor)'],
    ['column tags.icon', `ALTER TABLE tags ALTER icon SET DEFAULT 'tag'`],
    ['column tags.color', 'ALTER TABLE tags ALTER color DROP NOT NULL'],
    ['column languages.name', 'ALTER TABLE languages ALTER name TYPE varchar(80)'],
    ['order instructions', `ALTER TABLE instructions DROP title; ALTER TABLE instructions ADD title text NOT NULL DEFAULT ''`],
    ['index tags_name_key', 'DROP INDEX tags_name_key; CREATE UNIQUE INDEX tags_name_key ON tags (organization_id, name)'],
    ['constraint grades.grades_round_check', 'ALTER TABLE grades DROP CONSTRAINT grades_round_check'],
    ['constraint tags.tags_author_fkey', 'ALTER TABLE tags RENAME CONSTRAINT tags_created_by_fkey TO tags_author_fkey'],
    [
      'function utc_day(timestamp with time zone)',
      'CREATE OR REPLACE FUNCTION utc_day(at timestamptz) RETURNS date LANGUAGE sql IMMUTABLE RETURN at::date',
    ],
    ['trigger media.media_deleted', 'ALTER TABLE media DISABLE TRIGGER media_deleted'],
    ['sequence events_sequence_seq', 'ALTER SEQUENCE events_sequence_seq INCREMENT 2'],
    ['rows of event_numbering', 'UPDATE event_numbering SET position = 1'],
  ])('is not the same once %s differs', async (name, sql) => {
    await client.query(`BEGIN; ${sql}`)
    const differences = compareDatabases(chain, await describeDatabase(client))
    await client.query('ROLLBACK')
    expect(differences.map((difference) => difference.name)).toContain(name)
  })
})

import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Db } from '../../src/db/client.ts'
import { openTestDatabase } from '../support/processes.ts'

// Keys of an organization's rows include the organization, so that organizations can be moved to, or distributed over, several servers.

const PERSON = 'belongs to a person, who may be a member of several organizations'
const ALL = 'exists once for the whole service'

/** Tables without an organization, with the reason. */
const SHARED: Record<string, string> = {
  _prisma_migrations: ALL,
  ats_fanout: ALL,
  audit_sequence: 'all organizations share one sequence',
  credentials: PERSON,
  devices: PERSON,
  missing_event_positions: 'all organizations share one sequence of events',
  event_sequence: 'all organizations share one sequence of events',
  languages: 'all organizations share the languages',
  mail_events: 'the organization is known only after the notice was processed',
  mail_outages: ALL,
  deleted_media_files: 'files to delete, possibly after their organization was deleted',
  organizations: 'the organizations themselves',
  saved_forms: PERSON,
  recovery_codes: PERSON,
  second_factors: PERSON,
  secret_fingerprints: ALL,
  session_authentications: PERSON,
  sessions: PERSON,
  used_tokens: ALL,
  sign_in_attempts: 'counted by address, before the account is known',
  sweep_parts: ALL,
  users: PERSON,
  webhook_fanout: ALL,
}

const OPERATORS = 'rows of the operator’s providers have no organization'
const ASKED_BEFORE = 'queried before the organization is known'
/** Primary keys of the id alone, each with the unique key of organization and id that references and a distributed database need. */
const BY_ID: Record<string, string> = Object.fromEntries(
  [
    'account_links, api_keys, assessments, ats_calls, ats_connections, ats_keys, ats_orders, ats_reports, audit_entries, categories, events, grades',
    'answer_attempts, instructions, invite_batches, invite_emails, invites, media_files, member_emails, members, questions, releases, session_events, submissions, tags',
    'bulk_changes, grading_notes, registrations, saved_filters, share_links, webhook_endpoints',
  ]
    .flatMap((list) => list.split(', '))
    .map((table) => [`${table}_pkey`, `${table}_organization_id_key`]),
)

/** Unique keys of an organization's rows that don't include the organization, with the reason. */
const KEYS: Record<string, string> = {
  api_keys_hash_key: ASKED_BEFORE,
  api_keys_previous_hash_key: ASKED_BEFORE,
  ats_keys_hash_key: ASKED_BEFORE,
  events_position_key: 'all organizations share one sequence of events',
  archives_key_key: 'all organizations share the key space of the media store',
  assets_key_key: 'all organizations share the key space of the media store',
  open_links_token_key: ASKED_BEFORE,
  media_files_key_key: 'all organizations share the key space of the media store',
  identities_pkey: OPERATORS,
  identities_subject_key: OPERATORS,
  organization_suspensions_id_key:
    'the job that continues an erasure outlives the organization, and has only the id of the receipt',
  sign_in_domains_verified_key: 'a verified domain belongs to one organization only',
  sign_in_providers_pkey: OPERATORS,
  ...BY_ID,
}

/** `ON CONFLICT` targets in functions and statements that don't include the organization, with the reason. */
const TARGETS: Record<string, string> = {
  'mail-outage.ts (id)': SHARED.mail_outages!,
  'secret-fingerprint.ts (id)': SHARED.secret_fingerprints!,
  'sign-in-attempts.ts (key)': SHARED.sign_in_attempts!,
  'used-tokens.ts (key)': SHARED.used_tokens!,
}

const HAS_ORGANIZATION = (relation: string) =>
  `EXISTS (SELECT FROM pg_attribute WHERE attrelid = ${relation} AND attname = 'organization_id' AND NOT attisdropped)`
const NAMES_ORGANIZATION = (relation: string, columns: string) =>
  `EXISTS (SELECT FROM pg_attribute WHERE attrelid = ${relation} AND attname = 'organization_id' AND attnum = ANY (${columns}))`

const namesOf = async (db: Db, sql: string) => (await db.$queryRawUnsafe<{ name: string }[]>(sql)).map(({ name }) => name).sort()

const tablesWithout = (db: Db) =>
  namesOf(
    db,
    `SELECT relname AS name FROM pg_class
     WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace AND NOT ${HAS_ORGANIZATION('oid')}`,
  )
const keysWithout = (db: Db) =>
  namesOf(
    db,
    `SELECT i.relname AS name FROM pg_index x JOIN pg_class i ON i.oid = indexrelid
     WHERE i.relnamespace = 'public'::regnamespace AND indisunique AND ${HAS_ORGANIZATION('indrelid')}
       AND NOT ${NAMES_ORGANIZATION('indrelid', 'indkey::int2[]')}`,
  )
/** Columns, expressions, and conditions of a unique index without the organization. */
const KEY = (name: string) =>
  `SELECT (SELECT array_agg(part ORDER BY part) FROM (SELECT pg_get_indexdef(indexrelid, n, true) part FROM generate_series(1, indnkeyatts) n) parts
     WHERE part <> 'organization_id') || coalesce(pg_get_expr(indpred, indrelid), '') AS key
   FROM pg_index WHERE indexrelid = to_regclass('${name}') AND indisunique AND indisvalid`
/** Foreign keys between rows of organizations that don't include the organization. */
const referencesWithout = (db: Db) =>
  namesOf(
    db,
    `SELECT conname AS name FROM pg_constraint
     WHERE contype = 'f' AND connamespace = 'public'::regnamespace AND ${HAS_ORGANIZATION('conrelid')} AND ${HAS_ORGANIZATION('confrelid')}
       AND NOT (${NAMES_ORGANIZATION('conrelid', 'conkey')} AND ${NAMES_ORGANIZATION('confrelid', 'confkey')})`,
  )
const targetsOfFunctions = (db: Db) =>
  namesOf(
    db,
    String.raw`SELECT DISTINCT proname || ' ' || m[1] AS name
      FROM pg_proc, regexp_matches(prosrc, 'ON CONFLICT\s*(\([^)]*\))', 'gi') m
      WHERE pronamespace = 'public'::regnamespace AND m[1] !~ '\morganization_id\M'`,
  )

async function targetsOfStatements(): Promise<string[]> {
  const files = (await readdir('src', { recursive: true })).filter(
    (file) => file.endsWith('.ts') && !file.startsWith('generated'),
  )
  const found: string[] = []
  for (const file of files) {
    const text = await readFile(path.join('src', file), 'utf8')
    for (const [, , columns = ''] of text.matchAll(/\bconflict\s*\.(column|columns)\(\[?([^\])]*)/g)) {
      const names = columns.replaceAll(/['\s]/g, '').split(',').filter(Boolean)
      if (!names.includes('organizationId')) found.push(`${path.basename(file)} (${names.join(', ')})`)
    }
  }
  return found
}

describe('the schema', () => {
  it('has the organization in each table, key, reference, and conflict target, except those listed here', async () => {
    const { db } = await openTestDatabase()
    onTestFinished(() => db.$disconnect())
    expect(await tablesWithout(db)).toEqual(Object.keys(SHARED).sort())
    expect(await keysWithout(db)).toEqual(Object.keys(KEYS).sort())
    expect(await referencesWithout(db)).toEqual([])
    expect([...(await targetsOfFunctions(db)), ...(await targetsOfStatements())].sort()).toEqual(Object.keys(TARGETS).sort())
  })

  it('has a key of organization and ID for each primary key of the ID alone', async () => {
    const { db } = await openTestDatabase()
    onTestFinished(() => db.$disconnect())
    const keyOf = async (name: string) => (await db.$queryRawUnsafe<{ key: string[] }[]>(KEY(name)))[0]?.key
    for (const [byId, byOrganization] of Object.entries(BY_ID))
      expect([byOrganization, await keyOf(byOrganization)]).toEqual([byOrganization, await keyOf(byId)])
  })

  it('fails the check for tables, keys, references, and functions without the organization', async () => {
    const { db } = await openTestDatabase()
    onTestFinished(() => db.$disconnect())
    await db.$executeRawUnsafe(`CREATE TABLE strays (id uuid CONSTRAINT strays_pkey PRIMARY KEY)`)
    await db.$executeRawUnsafe(`CREATE TABLE notes (id uuid CONSTRAINT notes_pkey PRIMARY KEY, organization_id uuid,
      invite_id uuid CONSTRAINT notes_invite_fkey REFERENCES invites (id))`)
    await db.$executeRawUnsafe(`CREATE FUNCTION keep_notes() RETURNS trigger LANGUAGE plpgsql
      AS 'BEGIN INSERT INTO notes VALUES (NEW.id) ON CONFLICT (id) DO NOTHING; RETURN NULL; END'`)
    expect(await tablesWithout(db)).toContain('strays')
    expect(await keysWithout(db)).toContain('notes_pkey')
    expect(await referencesWithout(db)).toEqual(['notes_invite_fkey'])
    expect(await targetsOfFunctions(db)).toContain('keep_notes (id)')
  })
})

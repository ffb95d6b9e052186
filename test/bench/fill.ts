import type { PoolClient } from 'pg'
import { createDb, openPool } from '../../src/db/client.ts'
import { importDocument } from '../../src/import/import-document.ts'
import { readDocument } from '../../src/import/read-document.ts'
import { systemOn } from '../support/factories.ts'
import { addInvites } from '../support/fill-invites.ts'
import type { BenchDatabase } from './database.ts'
import { describeOrganization, type OrganizationRows } from './fill-organization.ts'
import { addGrading, addPortal, type Grading, type Portal, sampleIds } from './fill-portal.ts'
import type { Options } from './options.ts'

/**
 * An organization with invites and events.
 *
 * @property size number of invites.
 * @property inviteIds sample, spread evenly over the list.
 * @property firstEvent position of its first event in the feed. Each invite has one event, at consecutive positions.
 */
export type Organization = OrganizationRows & { size: number; inviteIds: string[]; firstEvent: number }

/** The organizations of the service and of the floor start without invites. The organizations for grading have submissions. */
export type Organizations = Record<'small' | 'large', Organization> &
  Record<'service' | 'floor', OrganizationRows> & { portal: Portal; grading: { few: Grading; many: Grading } }

/** One in this many events reports a failed mail. */
const FAILED_OF = 1_000
const LARGE_TABLES = ['invites', 'invite_tags', 'events', 'submission_questions', 'answer_attempts', 'grades']

/** Fills an empty database with organizations that differ only in the number of their invites or submissions. */
export async function fill({ pool, url }: BenchDatabase, { sizes, submissions }: Options): Promise<Organizations> {
  const names = ['small', 'large', 'service', 'floor', 'few', 'many'] as const
  const described = names.map((name) => [name, describeOrganization(name)] as const)
  const db = createDb(openPool(url, { max: 2 }))
  await importDocument(systemOn(db), readDocument({ organizations: described.map(([, { entry }]) => entry) }))
  await db.$disconnect()
  const of = Object.fromEntries(described.map(([name, { organizationRows }]) => [name, organizationRows])) as Record<
    (typeof names)[number],
    OrganizationRows
  >
  const client = await pool.connect()
  try {
    await client.query(`SET synchronous_commit = off; SET work_mem = '256MB'; SET maintenance_work_mem = '512MB'`)
    const made = await withoutIndexes(client, async () => ({
      small: await addInvitesAndEvents(client, of.small, sizes.small),
      large: await addInvitesAndEvents(client, of.large, sizes.large),
      grading: {
        few: await addGrading(client, of.few, submissions.few),
        many: await addGrading(client, of.many, submissions.many),
      },
    }))
    const portal = await addPortal(client, of.large, sizes.large)
    await client.query('VACUUM (ANALYZE)')
    await client.query('CHECKPOINT')
    return { ...of, ...made, portal }
  } finally {
    client.release(true) // discards the connection, whose settings suit only the fill
  }
}

async function addInvitesAndEvents(client: PoolClient, organizationRows: OrganizationRows, size: number): Promise<Organization> {
  await addInvites(client, organizationRows, size)
  const firstEvent = await addEvents(client, organizationRows.id)
  return { ...organizationRows, size, inviteIds: await sampleIds(client, 'invites', organizationRows.id), firstEvent }
}

/** Adds one event to the feed for each of the organization's invites, in their order. @returns the first position. */
async function addEvents(client: PoolClient, organizationId: string): Promise<number> {
  const { rows } = await client.query<{ position: string }>('SELECT position FROM event_sequence')
  const before = Number(rows[0]!.position)
  await client.query(
    `INSERT INTO events (id, organization_id, type, mode, invite_id, actor_type, data, created_at, position)
     SELECT gen_random_uuid(), organization_id, CASE WHEN nth % ${FAILED_OF} = 0 THEN 'email.failed' ELSE 'invite.created' END, 'live', id,
       'system', jsonb_build_object('inviteId', id, 'assessmentId', assessment_id, 'status', status), created_at, $2::bigint + nth
     FROM (SELECT *, row_number() OVER (ORDER BY id) AS nth FROM invites WHERE organization_id = $1) AS invite`,
    [organizationId, before],
  )
  await client.query('UPDATE event_sequence SET position = (SELECT coalesce(max(position), 0) FROM events)')
  return before + 1
}

/** Drops the foreign keys of large tables and their indexes without constraints, runs the work, and creates both again. */
async function withoutIndexes<T>(client: PoolClient, work: () => Promise<T>): Promise<T> {
  const { rows } = await client.query<{ without: string; again: string }>(
    `SELECT format('DROP INDEX %s', indexrelid::regclass) AS without, pg_get_indexdef(indexrelid) AS again
     FROM pg_index WHERE indrelid = ANY ($1::regclass[]) AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)
     UNION ALL
     SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname),
       format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
     FROM pg_constraint WHERE contype = 'f' AND conrelid = ANY ($1::regclass[])`,
    [LARGE_TABLES],
  )
  for (const { without } of rows) await client.query(without)
  const result = await work()
  console.error(`  ${rows.length} indexes and foreign keys`)
  for (const { again } of rows) await client.query(again)
  return result
}

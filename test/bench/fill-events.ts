import type { PoolClient } from 'pg'

/** One event of a thousand tells of a mail that failed. */
const FAILED_OF = 1_000

/**
 * Adds an event to the feed for each of the organization's invites, in their order.
 *
 * @returns the position of the first; the others follow it.
 */
export async function addEvents(client: PoolClient, organizationId: string): Promise<number> {
  const { rows } = await client.query<{ position: string }>('SELECT position FROM event_numbering')
  const before = Number(rows[0]!.position)
  await client.query(
    `INSERT INTO events (id, organization_id, type, mode, invite_id, actor_type, data, created_at, position)
     SELECT gen_random_uuid(), organization_id, CASE WHEN nth % ${FAILED_OF} = 0 THEN 'email.failed' ELSE 'invite.created' END, 'live', id,
       'system', jsonb_build_object('inviteId', id, 'assessmentId', assessment_id, 'status', status), created_at, $2::bigint + nth
     FROM (SELECT *, row_number() OVER (ORDER BY id) AS nth FROM invites WHERE organization_id = $1) AS invite`,
    [organizationId, before],
  )
  await client.query('UPDATE event_numbering SET position = (SELECT coalesce(max(position), 0) FROM events)')
  return before + 1
}

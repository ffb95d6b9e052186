import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { UNBOUNDED_OPTIONS } from '../../../src/db/session-settings.ts'
import { createApiKey } from '../../../src/domain/api-keys/api-keys.ts'
import { type Query, recordQueries } from '../../support/queries.ts'
import { type Service, startService } from '../../support/service.ts'

const MANY = 30_000
/** Limit in pages of 8 kB. A statement that reads every row of the organization exceeds it. */
const FEW_PAGES = 450
const FEW = 3

let service: Service
let client: pg.Client
let keys: Record<'live' | 'test', string>
let tagId: string
let inviteId: string
beforeAll(async () => {
  service = await startService()
  // Without the timeouts that the service's role has behind a pooler.
  client = new pg.Client({ connectionString: service.databaseUrl, options: UNBOUNDED_OPTIONS })
  await client.connect()
  ;({ keys, tagId, inviteId } = await setUp())
})
afterAll(async () => {
  await client.end()
  await service.close()
})

/** Creates many invites with an event each, a few of them with a rare tag, and a few test invites. */
async function setUp() {
  const { id: organizationId, key: live } = await service.make.organization()
  const { key: test } = await createApiKey(service.system, { organizationId, name: 'Trials', mode: 'test' })
  const [common, rare] = [await service.make.tag(organizationId), await service.make.tag(organizationId)]
  const invite = await service.make.invite(await service.make.assessment(organizationId, { name: 'General' }), {
    recipientEmail: 'One@example.com',
    externalId: 'one',
  })
  for (const [mode, count] of [
    ['live', MANY],
    ['test', FEW],
  ] as const)
    await client.query(
      `INSERT INTO invites
       SELECT (jsonb_populate_record(i, jsonb_build_object(
         'id', gen_random_uuid(), 'recipient_email', n || '@example.com', 'external_id', 'many ' || n, 'mode', $3::text))).*
       FROM invites i, generate_series(1, $1::int) n WHERE i.id = $2`,
      [count, invite.id, mode],
    )
  await client.query(
    `INSERT INTO invite_tags (organization_id, invite_id, tag_id, position)
     SELECT organization_id, id, CASE WHEN row_number() OVER () <= $1 THEN $2::uuid ELSE $3::uuid END, 0 FROM invites WHERE mode = 'live'`,
    [FEW, rare.id, common.id],
  )
  await client.query(
    `INSERT INTO events (id, organization_id, type, mode, invite_id, actor_type, data, created_at, position)
     SELECT gen_random_uuid(), organization_id, CASE mode WHEN 'test' THEN 'email.failed' ELSE 'invite.created' END, mode, id, 'system',
       jsonb_build_object('inviteId', id, 'assessmentId', assessment_id, 'status', status), created_at, row_number() OVER (ORDER BY mode)
     FROM invites`,
  )
  await client.query('UPDATE event_sequence SET position = (SELECT max(position) FROM events)')
  await client.query(
    `INSERT INTO invites
     SELECT (jsonb_populate_record(i, jsonb_build_object('id', gen_random_uuid(), 'recipient_email', 'other@example.com', 'external_id', 'other',
       'status', 'accepted', 'sent_at', '2500-01-01', 'expires_at', '2500-02-01', 'updated_at', '2500-01-01'))).*
     FROM invites i WHERE id = $1`,
    [invite.id],
  )
  await client.query(
    `INSERT INTO invite_emails (id, organization_id, invite_id, link_version, created_at, updated_at)
     SELECT gen_random_uuid(), organization_id, id, 1, now(), now() FROM invites`,
  )
  await client.query('VACUUM ANALYZE')
  return { keys: { live, test }, tagId: rare.id, inviteId: invite.id }
}

/** Pages of tables and indexes that a statement reads, with a custom plan and with a generic plan. */
async function countPages({ text, values }: Query): Promise<number[]> {
  const pages: number[] = []
  for (const plan of ['force_custom_plan', 'force_generic_plan']) {
    await client.query(`SET plan_cache_mode = ${plan}`)
    const explained = {
      name: `${plan} ${pages.length} ${Math.random()}`,
      text: `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
      values,
    }
    const { rows } = await client.query(explained)
    const { Plan } = rows[0]['QUERY PLAN'][0]
    pages.push(Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks'])
  }
  return pages
}

it.each<[path: () => string, found: number, mode?: 'live' | 'test']>([
  [() => '/events?limit=100', 100],
  [() => `/events?limit=100&cursor=${MANY - 10}`, 11],
  [() => '/events', FEW, 'test'],
  [() => '/events?type=email.failed', 0],
  [() => '/events?type=email.failed', FEW, 'test'],
  [() => '/events?type=email.failed,invite.revoked,invite.expired&limit=100', FEW, 'test'],
  [() => `/events?inviteId=${inviteId}`, 1],
  [() => `/events?inviteId=${inviteId}&type=invite.revoked`, 0],
  [() => '/invites', FEW, 'test'],
  [() => '/invites?status=pending&sort=expires_at', FEW, 'test'],
  [() => '/invites?recipient=example', FEW, 'test'],
  [() => '/assessment_invites', FEW, 'test'],
  [() => '/invites?statuses=accepted,completed', 1],
  [() => '/invites?statuses=pending,accepted,revoked&sort=expires_at&order=asc', 20],
  [() => '/invites?statuses=pending,accepted&sort=status&limit=100', 100],
  [() => '/invites?statuses=pending,accepted&limit=100&page=2', 100],
  [() => `/invites?statuses=expired,accepted&tagId=${tagId}`, 0],
  [() => '/invites?updatedSince=2500-01-01T00:00:00Z', 1],
  [() => '/invites?updatedSince=2500-01-01T00:00:00Z&sort=status', 1],
  [() => '/invites?sentFrom=2500-01-01T00:00:00Z', 1],
  [() => '/invites?sentTo=2001-01-01T00:00:00Z&sort=expires_at', 0],
  [() => '/invites?expiresFrom=2500-02-01T00:00:00Z&statuses=pending,accepted', 1],
  [() => '/invites?expiresTo=2001-01-01T00:00:00Z', 0],
  [() => '/invites?recipientEmail=oNE@example.com', 1],
  [() => '/invites?recipientEmail=nobody@example.com', 0],
  [() => '/invites?recipientEmail=one@example.com&status=pending&sort=expires_at', 1],
  [() => `/invites?tagId=${tagId}`, FEW],
  [() => `/invites?tagId=${tagId}&status=pending&sort=status&order=asc`, FEW],
  [() => `/invites?tagId=${tagId}&recipientEmail=nobody@example.com`, 0],
  [() => '/invites?externalId=one', 1],
  [() => '/invites?externalId=many%20100&sort=expires_at', 1],
  [() => '/invites?externalId=nobody', 0],
  [() => '/assessment_invites?external_id=one', 1],
  [() => '/assessment_invites?external_id=nobody', 0],
  [() => '/assessment_invites?search=ONE@', 1],
  [() => '/assessment_invites?search=29999@example.com', 1],
  [() => '/assessment_invites?search=nobody', 0],
  [() => '/assessment_invites?search=one@+general', 1],
  [() => '/assessment_invites?search=general&page_size=20', 20],
  [() => `/invites/${inviteId}/emails`, 1],
  [() => `/invites/${inviteId}/messages?limit=100`, 1],
  [() => `/invites/${inviteId}/tags`, 1],
  [() => `/invites/${inviteId}/tags?sort=name`, 1],
])('reads few rows of large tables: %s', async (path, found, mode = 'live') => {
  const client = path().startsWith('/assessment_invites') ? service.alternate(keys[mode]) : service.v1(keys[mode])
  const { result, queries } = await recordQueries(async () => await client.get(path()))
  expect(result.status).toBe(200)
  const { events, invites, results, emails, messages, tags } = result.body
  expect(events ?? invites ?? results ?? emails ?? messages ?? tags).toHaveLength(found)
  const about = queries.filter(({ text }) => /\b(events|invites|invite_emails|invite_tags)\b/.test(text))
  expect(about.length).toBeGreaterThan(0)
  for (const query of about) expect(Math.max(...(await countPages(query))), query.text).toBeLessThan(FEW_PAGES)
})

it.each([1, 2, 15, 290, 301])('merges several statuses in their order: page %i', async (page) => {
  const idsOf = async (query: string) => {
    const { body } = await service.v1(keys.live).get(`/invites?limit=100&page=${page}${query}`)
    return body.invites.map(({ id }: { id: string }) => id)
  }
  expect(await idsOf('&statuses=accepted,pending,revoked')).toEqual(await idsOf(''))
})

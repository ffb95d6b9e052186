import { Client } from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { migrate } from '../../src/db/migrate.ts'
import { putUnderLoad } from '../support/load.ts'
import { copyMigrations } from '../support/migrations-folder.ts'
import { openTestDatabase, startProcess } from '../support/processes.ts'
import { itSlow } from '../support/slow.ts'
import { waitUntil } from '../support/wait-until.ts'

/** An example of each kind of migration. Each one depends on the one before. */
const EXAMPLES = {
  '29990101000000_tag_slugs': 'ALTER TABLE tags ADD COLUMN slug text;',
  '29990101000001_fill_tag_slugs': `-- no-transaction
DO $$
DECLARE
  filled int;
BEGIN
  LOOP
    UPDATE tags SET slug = lower(name) WHERE id IN (SELECT id FROM tags WHERE slug IS NULL ORDER BY id LIMIT 100);
    GET DIAGNOSTICS filled = ROW_COUNT;
    COMMIT;
    EXIT WHEN filled = 0;
  END LOOP;
END
$$;
`,
  '29990101000002_tags_slug_idx': `-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "tags_slug_idx" ON "tags" ("organization_id", "slug");
`,
}
const [ADD, FILL, INDEX] = Object.keys(EXAMPLES) as [keyof typeof EXAMPLES, string, string]

/** Creates a database with 1,000 tags, and the migrations of the next release. */
async function createDatabase() {
  const { url, db, make } = await openTestDatabase()
  onTestFinished(() => db.$disconnect())
  const { id: organizationId, key } = await make.organization()
  const { id: assessmentId } = await make.assessment(organizationId)
  const client = await connect(url)
  await client.query(
    `INSERT INTO tags (id, organization_id, name, name_key, name_search, color, created_at, updated_at)
     SELECT gen_random_uuid(), $1, 'Tag ' || n, 'tag ' || n, 'tag ' || n, 'red', now(), now() FROM generate_series(1, 1000) AS n`,
    [organizationId],
  )
  return { url, client, key, assessmentId, folder: await copyMigrations(EXAMPLES) }
}

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  client.on('error', () => {}) // pending queries reject with the same error
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

const countFilled = async (client: Client): Promise<number> =>
  (await client.query('SELECT count(slug)::int AS count FROM tags')).rows[0].count

describe('the migrations of the next release', () => {
  itSlow('make no request of the running release fail: in a transaction, in batches, and with a concurrent index', async () => {
    const { url, client, key, assessmentId, folder } = await createDatabase()
    const service = await startProcess({ DATABASE_URL: url, RATE_LIMIT_STANDARD: '1000000' })
    const load = putUnderLoad({ url: service.url, key, assessmentId }, { kept: true, clients: 2 })
    const served = (count: number) => waitUntil('the load', () => load.outcomes.length >= count || undefined)
    await served(20)
    expect(await migrate(url, { folder })).toEqual(Object.keys(EXAMPLES))
    await served(load.outcomes.length + 20)
    await load.stop()
    expect(load.outcomes.filter(({ complete, status }) => !complete || (status !== 200 && status !== 201))).toEqual([])
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
    expect(await countFilled(client)).toBe(1_000)
    const { rows } = await client.query(`SELECT indisvalid FROM pg_index WHERE indexrelid = 'tags_slug_idx'::regclass`)
    expect(rows).toEqual([{ indisvalid: true }])
  })

  it('keep committed batches when the process dies, and continue after them', async () => {
    const { url, client, folder } = await createDatabase()
    await migrate(url, { folder: await copyMigrations({ [ADD]: EXAMPLES[ADD] }) })
    const holder = await connect(url)
    await holder.query('BEGIN; SELECT FROM tags WHERE id = (SELECT id FROM tags ORDER BY id OFFSET 350 LIMIT 1) FOR UPDATE')
    const killed = expect(migrate(url, { folder })).rejects.toThrow(`The migration ${FILL} failed`)
    const pid = await waitUntil('the fourth batch to wait', async () => {
      const { rows } = await client.query(
        `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%filled%' AND wait_event_type = 'Lock'`,
      )
      return rows[0]?.pid as number | undefined
    })
    await client.query('SELECT pg_terminate_backend($1)', [pid])
    await killed
    expect(await countFilled(client)).toBe(300)
    await holder.query('ROLLBACK')
    expect(await migrate(url, { folder })).toEqual([FILL, INDEX])
    expect(await countFilled(client)).toBe(1_000)
  })
})

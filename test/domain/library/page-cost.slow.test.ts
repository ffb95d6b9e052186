import pg from 'pg'
import { expect, it } from 'vitest'
import { type Context, enterOrganization } from '../../../src/domain/context.ts'
import { type LibraryFilter, listLibrary } from '../../../src/domain/library/list-library.ts'
import { type Query, recordQueries } from '../../support/queries.ts'
import { startServiceForFile } from '../../support/service.ts'

const MANY = 100_000
/** Pages of 8 kB. A query that reads every question needs more than a thousand. */
const FEW_PAGES = 450

const service = await startServiceForFile()

it('reads a page of the library from an index with any filter, even with 100,000 questions', async () => {
  const { id: organizationId, name } = await service.make.organization()
  const client = new pg.Client(service.databaseUrl)
  await client.connect()
  const category = service.deps.newId()
  await service.db.libraryCategory.create({ data: { organizationId, id: category, path: 'Rare' } })
  await client.query(
    `INSERT INTO library_questions (organization_id, id, name, name_words, category_id, response_type, number, uses, created_at, updated_at, retired_at)
     SELECT $1, gen_random_uuid(), 'Question ' || n || CASE WHEN n % 20000 = 0 THEN ' unusual' ELSE ' common words' END,
       ARRAY['question', n::text] || CASE WHEN n % 20000 = 0 THEN '{unusual}'::text[] ELSE '{common,words}' END,
       CASE WHEN n % 20000 = 0 THEN $2::uuid END, CASE WHEN n % 20000 = 0 THEN 'number' ELSE 'single_choice' END, 1,
       CASE WHEN n % 20000 = 0 THEN 0 ELSE 2 END, now(), now(), CASE WHEN n % 10000 = 1 THEN now() END
     FROM generate_series(1, $3::int) n`,
    [organizationId, category, MANY],
  )
  await client.query('VACUUM ANALYZE library_questions')
  const ctx: Context = enterOrganization(
    { ...service.system, actor: { kind: 'operator' } },
    { id: organizationId, name, tier: 'standard' },
    'live',
  )
  const filters: [LibraryFilter, number][] = [
    [{}, 50],
    [{ isRetired: true }, 10],
    [{ categoryId: category }, 5],
    [{ responseType: 'number' }, 5],
    [{ responseType: 'single_choice' }, 50],
    [{ isUnused: true }, 5],
    [{ search: 'unusual' }, 5],
    [{ search: 'common' }, 50],
    [{ search: 'unus', responseType: 'number', isUnused: true, categoryId: category }, 5],
  ]
  for (const [filter, found] of filters) {
    const { result, queries } = await recordQueries(() => listLibrary(ctx, filter, 50))
    expect([filter, result.items.length]).toEqual([filter, found])
    for (const query of queries) expect(await countPages(client, query), JSON.stringify(filter)).toBeLessThan(FEW_PAGES)
  }
  await client.end()
})

async function countPages(client: pg.Client, { text, values }: Query): Promise<number> {
  const { rows } = await client.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, values)
  const plan = rows[0]['QUERY PLAN'][0].Plan
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
}

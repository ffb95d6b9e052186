import pg from 'pg'
import { expect, it } from 'vitest'
import { scopeWhere } from '../../../src/db/queries.ts'
import { findAssessments } from '../../../src/domain/assessments/assessments.ts'
import { type Context, enterOrganization } from '../../../src/domain/context.ts'
import { getInvite } from '../../../src/domain/invites/invites.ts'
import { batchLoader } from '../../../src/domain/loaders/batch-loader.ts'
import { inTransaction } from '../../../src/domain/transaction.ts'
import { recordQueries } from '../../support/queries.ts'
import { startServiceForFile } from '../../support/service.ts'

const service = await startServiceForFile()

/** Creates an organization with three tags. */
async function setUp() {
  const { id, name } = await service.make.organization()
  const tags = [await service.make.tag(id), await service.make.tag(id), await service.make.tag(id)]
  const organization = { id, name, tier: 'standard' as const }
  const ctx: Context = enterOrganization(service.system, organization, 'live')
  return { ctx, tags, ids: tags.map((tag) => tag.id) }
}
/** Creates a loader that records its queries. */
function createRecordingLoader() {
  const queries: [organization: string, ids: string[]][] = []
  const find = batchLoader((ctx, ids) => {
    queries.push([ctx.organization.id, ids])
    return ctx.db.tag.findMany({ where: { ...scopeWhere(ctx), id: { in: ids } } })
  })
  const lookUp = async (ctx: Context, id: string) => (await find(ctx, [id]))[0]
  return { queries, find, lookUp }
}

it('sends one query for the lookups of one turn, and returns each caller its own row', async () => {
  const { ctx, tags, ids } = await setUp()
  const { queries, find, lookUp } = createRecordingLoader()
  const found = await Promise.all([...ids, ids[0]!, ids[1]!.toUpperCase()].map((id) => lookUp(ctx, id)))
  expect(found).toEqual([...tags, tags[0], tags[1]])
  expect(queries).toEqual([[ctx.organization.id, ids]])
  const [two, one] = await Promise.all([find(ctx, [ids[2]!, ids[0]!]), find(ctx, [ids[0]!])])
  expect([two, one]).toEqual([[tags[2], tags[0]], [tags[0]]])
  expect(queries).toHaveLength(2)
})

it("queries each organization apart, and finds no other organization's rows", async () => {
  const [one, other] = [await setUp(), await setUp()]
  const { queries, lookUp } = createRecordingLoader()
  const found = await Promise.all([
    lookUp(one.ctx, one.ids[0]!),
    lookUp(other.ctx, one.ids[0]!),
    lookUp(other.ctx, other.ids[0]!),
  ])
  expect(found).toEqual([one.tags[0], undefined, other.tags[0]])
  expect(queries).toEqual([
    [one.ctx.organization.id, [one.ids[0]]],
    [other.ctx.organization.id, [one.ids[0], other.ids[0]]],
  ])
})

it('sends no query for a malformed ID', async () => {
  const { ctx } = await setUp()
  const { queries, lookUp } = createRecordingLoader()
  expect(await lookUp(ctx, 'no-id')).toBeUndefined()
  expect(queries).toEqual([])
})

it('sees uncommitted changes of its own transaction', async () => {
  const { ctx, ids } = await setUp()
  const find = batchLoader((inside, wanted) => inside.db.tag.findMany({ where: { ...scopeWhere(inside), id: { in: wanted } } }))
  await inTransaction(ctx, async (inside) => {
    await inside.db.tag.update({ where: { ...scopeWhere(inside), id: ids[0]! }, data: { name: 'Changed' } })
    expect(await find(inside, [ids[0]!])).toMatchObject([{ name: 'Changed' }])
  })
})

it('splits a lookup too large for one query, and rejects all callers of a failed one', async () => {
  const { ctx } = await setUp()
  const { queries, lookUp } = createRecordingLoader()
  const many = Array.from({ length: 1_200 }, () => service.deps.newId())
  await Promise.all(many.map((id) => lookUp(ctx, id)))
  expect(queries.map(([, ids]) => ids.length)).toEqual([1_000, 200])
  const failing = batchLoader(async () => {
    throw new Error('no database')
  })
  const outcomes = await Promise.allSettled(many.slice(0, 3).map((id) => failing(ctx, [id])))
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
})

it('finds one row by a prepared statement with a generic plan', async () => {
  const { make, system } = service
  const { id, name } = await make.organization()
  const assessment = await make.assessment(id)
  const invite = await make.invite(assessment)
  const ctx: Context = enterOrganization(system, { id, name, tier: 'standard' }, 'live')
  const reads: (() => Promise<unknown>)[] = [
    () => getInvite({ ...ctx, actor: { kind: 'operator' } }, invite.id),
    () => findAssessments(ctx, [assessment.id]),
  ]
  const client = new pg.Client(service.databaseUrl)
  await client.connect()
  for (const [i, read] of reads.entries()) {
    const [query] = (await recordQueries(read)).queries
    for (let n = 0; n < 8; n++) expect((await client.query({ name: `read ${i}`, ...query! })).rowCount).toBe(1)
  }
  const { rows } = await client.query('SELECT name, generic_plans > 0 AS planned FROM pg_prepared_statements ORDER BY name')
  await client.end()
  expect(rows).toEqual(reads.map((_read, i) => ({ name: `read ${i}`, planned: true })))
})

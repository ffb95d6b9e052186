import { expect, it } from 'vitest'
import { scopeWhere } from '../../../src/db/queries.ts'
import { languages, wholeCategory } from '../../../src/domain/assessments/assessments.ts'
import { type Context, enterOrganization } from '../../../src/domain/context.ts'
import { multiLoader, tenantSource } from '../../../src/domain/loaders/multi-loader.ts'
import { users } from '../../../src/domain/members/members.ts'
import { wholeTag } from '../../../src/domain/tags/tags.ts'
import { inTransaction } from '../../../src/domain/transaction.ts'
import { recordQueries } from '../../support/queries.ts'
import { startServiceForFile } from '../../support/service.ts'

const service = await startServiceForFile()
const named = <Row extends { id: string; name: string }>({ id, name }: Row) => ({ id, name })
const makeFind = () =>
  multiLoader<'tag' | 'category' | 'language' | 'user', { id: string; name: string }>({
    tag: tenantSource(wholeTag, named),
    category: tenantSource(wholeCategory, named),
    language: languages(named),
    user: users(({ id, email }) => ({ id, name: email })),
  })

/** Creates an organization with three tags, and a category with the same id as the first tag. */
async function setUp() {
  const { make, db } = service
  const { id, name } = await make.organization()
  const tags = [await make.tag(id), await make.tag(id), await make.tag(id)].map(named)
  const category = { id: tags[0]!.id, name: make.unique('Category') }
  await db.category.create({ data: { ...category, organizationId: id } })
  const ctx: Context = enterOrganization(service.system, { id, name, tier: 'standard' as const }, 'live')
  return { ctx, organizationId: id, tags, category, ids: tags.map((tag) => tag.id) }
}
const of = (...ids: string[]) => new Set(ids)

it('finds rows of several tables in one statement, each by its own IDs', async () => {
  const { ctx, tags, category, ids } = await setUp()
  const find = makeFind()
  const asked = new Map([
    ['category', of(...ids)],
    ['tag', of(ids[0]!, ids[1]!)],
  ] as const)
  const { result, queries } = await recordQueries(() => find(ctx, asked))
  expect(result.get('tag')).toEqual(new Map([tags[0]!, tags[1]!].map((tag) => [tag.id, tag])))
  expect(result.get('category')).toEqual(new Map([[category.id, category]]))
  expect(queries).toHaveLength(1)
})

it('uses the same statement text for the same tables, with any number and order of IDs', async () => {
  const { ctx, ids } = await setUp()
  const find = makeFind()
  const { queries } = await recordQueries(async () => {
    await find(ctx, new Map([['tag', of(...ids)] as const, ['category', of(ids[0]!)] as const]))
    await find(ctx, new Map([['category', of(...ids)] as const, ['tag', of(ids[0]!)] as const]))
  })
  expect(queries).toHaveLength(2)
  expect(queries[0]!.text).toBe(queries[1]!.text)
})

it('sends one query for the lookups of one turn, and another for the next turn', async () => {
  const { ctx, tags, ids } = await setUp()
  const find = makeFind()
  const lookUp = async (id: string) => (await find(ctx, new Map([['tag', of(id)]]))).get('tag')?.get(id)
  const { result, queries } = await recordQueries(async () => {
    const [first, second] = [lookUp(ids[0]!), lookUp(ids[1]!)]
    await new Promise(setImmediate)
    return Promise.all([first, second, lookUp(ids[2]!), lookUp(ids[0]!)])
  })
  expect(result).toEqual([tags[0], tags[1], tags[2], tags[0]])
  expect(queries).toHaveLength(2)
})

it("queries each organization separately, and finds no other organization's rows and no user who isn't a member", async () => {
  const [one, other] = [await setUp(), await setUp()]
  const { userId } = await service.make.member(other.organizationId)
  const find = makeFind()
  const asked = () => new Map([['tag', of(...one.ids)] as const, ['user', of(userId)] as const])
  const { result, queries } = await recordQueries(() => Promise.all([find(one.ctx, asked()), find(other.ctx, asked())]))
  expect(result.map((found) => [found.get('tag')!.size, found.get('user')!.size])).toEqual([
    [3, 0],
    [0, 1],
  ])
  expect(queries).toHaveLength(2)
})

it('sees uncommitted changes of its own transaction', async () => {
  const { ctx, ids } = await setUp()
  const find = makeFind()
  await inTransaction(ctx, async (inside) => {
    await inside.db.tag.update({ where: { ...scopeWhere(inside), id: ids[0]! }, data: { name: 'Changed' } })
    const found = await find(inside, new Map([['tag', of(...ids)]]))
    expect(found.get('tag')?.get(ids[0]!)).toEqual({ id: ids[0], name: 'Changed' })
  })
})

it("isn't delayed by a slow lookup", async () => {
  const { ctx, tags, ids } = await setUp()
  const find = makeFind()
  const slow = await inTransaction(ctx, async ({ db }) => {
    await db.$executeRaw`LOCK TABLE categories`
    const slow = find(ctx, new Map([['category', of(...ids)]]))
    await new Promise(setImmediate)
    const found = await find(ctx, new Map([['tag', of(ids[0]!)]]))
    expect(found.get('tag')?.get(ids[0]!)).toEqual(tags[0])
    return [slow]
  })
  expect((await slow[0]!).get('category')?.size).toBe(1)
})

it('splits a lookup too large for one statement, and rejects all callers of a failed one', async () => {
  const { ctx, tags, ids } = await setUp()
  const find = makeFind()
  const many = () => of(...Array.from({ length: 600 }, () => service.deps.newId()))
  const { queries } = await recordQueries(() => Promise.all([1, 2, 3].map(() => find(ctx, new Map([['tag', many()]])))))
  expect(queries).toHaveLength(2)
  const failing = [1, 2].map(() => find(ctx, new Map([['tag', of('no-id')]])))
  expect((await Promise.allSettled(failing)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  const found = await find(ctx, new Map([['tag', of(ids[0]!)]]))
  expect(found.get('tag')?.get(ids[0]!)).toEqual(tags[0])
})

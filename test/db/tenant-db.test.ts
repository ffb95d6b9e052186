import { v7 as uuidv7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../../src/db/builder.ts'
import { anyOfIds, prepareScoped } from '../../src/db/queries.ts'
import { type Mode, scopeOf, type TenantDb, tenantDb } from '../../src/db/tenant-db.ts'
import { TENANT_TABLES } from '../../src/db/tenant-tables.ts'
import { transact, withSignal } from '../../src/db/transact.ts'
import { unscoped, unscopedPrisma } from '../../src/db/unscoped.ts'
import { copyColumns, DEFAULT, insertFromSelect } from '../../src/db/writes.ts'
import { Prisma } from '../../src/generated/prisma/client.ts'
import { openTestDatabase, type TestDatabase } from '../support/processes.ts'
import { unscopedQueries } from './must-not-compile.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(() => database.db.$disconnect())

const at = new Date()
const tag = (name: string) => ({ id: uuidv7(), name, nameKey: name, nameSearch: name, color: '', createdAt: at, updatedAt: at })
async function createTenant(mode: Mode = 'live') {
  const organization = await database.make.organization()
  return { organization, db: tenantDb(database.db, { organization, mode }) }
}
const createTenantDb = () => tenantDb(database.db, { organization: { id: uuidv7() }, mode: 'live' })

describe('a tenant database', () => {
  it('reads, joins, changes, and deletes rows of its organization only', async () => {
    const [own, other] = [await createTenant(), await createTenant()]
    const row = tag('one')
    await own.db.insertInto('tags').values(row).execute()
    const assessment = await database.make.assessment(own.organization.id, { name: 'Support' })
    const invite = await database.make.invite(assessment)
    const names = (db: typeof own.db) =>
      db
        .selectFrom('invites')
        .innerJoin(db.table('assessments as its'), 'its.id', 'invites.assessmentId')
        .select(['invites.id', 'its.name'])
        .where('invites.id', '=', invite.id)
        .execute()
    expect(await names(own.db)).toEqual([{ id: invite.id, name: 'Support' }])
    expect(await names(other.db)).toEqual([])
    const rename = (db: typeof own.db) =>
      db.updateTable('tags').set({ name: 'two' }).where('id', '=', row.id).executeTakeFirstOrThrow()
    expect((await rename(other.db)).numUpdatedRows).toBe(0n)
    expect((await rename(own.db)).numUpdatedRows).toBe(1n)
    const remove = (db: typeof own.db) => db.deleteFrom('tags').where('id', '=', row.id).executeTakeFirstOrThrow()
    expect((await remove(other.db)).numDeletedRows).toBe(0n)
    expect((await remove(own.db)).numDeletedRows).toBe(1n)
  })

  it('reads its own organization, and shared tables', async () => {
    const { organization, db } = await createTenant()
    expect(await db.selectFrom('organizations').select('id').execute()).toEqual([{ id: organization.id }])
    const code = uuidv7()
    await database.db.language.create({ data: { id: uuidv7(), code } })
    expect(await db.selectFrom('languages').select('code').where('code', '=', code).execute()).toEqual([{ code }])
  })

  it('reads tags of both modes in test mode, and changes test tags only', async () => {
    const { organization, db: live } = await createTenant()
    const test = tenantDb(live, { organization, mode: 'test' })
    await live.insertInto('tags').values(tag('live')).execute()
    await test.insertInto('tags').values(tag('test')).execute()
    const names = async (db: typeof live) =>
      (await db.selectFrom('tags').select('name').orderBy('name').execute()).map(({ name }) => name)
    expect(await names(live)).toEqual(['live'])
    expect(await names(test)).toEqual(['live', 'test'])
    expect((await test.updateTable('tags').set({ color: '#123456' }).executeTakeFirstOrThrow()).numUpdatedRows).toBe(1n)
    expect((await test.deleteFrom('tags').executeTakeFirstOrThrow()).numDeletedRows).toBe(1n)
    expect(await names(test)).toEqual(['live'])
  })

  it('inserts rows with modes in one mode only', () => {
    const all = tenantDb(createTenantDb(), { organization: { id: uuidv7() }, mode: 'all' })
    expect(() => all.insertInto('tags').values(tag('one'))).toThrow('mode')
  })

  it('keeps its scope in a transaction and in a savepoint', async () => {
    const { organization, db } = await createTenant()
    const failed = transact(db, async (inside) => {
      await inside.insertInto('tags').values(tag('kept')).execute()
      await transact(inside, async (deeper) => {
        await deeper.tag.create({ data: { ...tag('deeper'), organizationId: organization.id } })
        throw new Error('undone')
      }).catch(() => {})
      return inside.selectFrom('tags').select('name').execute()
    })
    expect(await failed).toEqual([{ name: 'kept' }])
  })
})

describe('Prisma Client in a tenant database', () => {
  const ids = { own: uuidv7(), other: uuidv7() }
  const inMode = (mode: Mode) => tenantDb(database.db, { organization: { id: ids.own }, mode })
  const own = { organizationId: ids.own }
  const row = { ...tag('one'), ...own, mode: 'live' as const }

  const refused: Record<string, (live: TenantDb, test: TenantDb) => Promise<unknown>> = {
    'invite.findMany by id alone': (live) => live.invite.findMany({ where: { id: ids.other } }),
    'invite.findUnique by id alone': (live) => live.invite.findUnique({ where: { id: ids.other } }),
    'invite.findMany by organization without mode': (live) => live.invite.findMany({ where: own }),
    'invite.update by a compound key without mode': (live) =>
      live.invite.update({ where: { organizationId_id: { ...own, id: ids.other } }, data: { remindersOff: true } }),
    'invite.findFirst in the other mode': (live) => live.invite.findFirst({ where: { ...own, mode: 'test' } }),
    'invite.count of another organization': (live) => live.invite.count({ where: { organizationId: ids.other, mode: 'live' } }),
    'invite.findMany with the organization as one of two alternatives': (live) =>
      live.invite.findMany({ where: { OR: [{ ...own, mode: 'live' }, { id: ids.other }] } }),
    'invite.findMany with the organization of a related row': (live) =>
      live.invite.findMany({ where: { mode: 'live', assessment: own } }),
    'invite.count of all but its organization': (live) => live.invite.count({ where: { NOT: own, mode: 'live' } }),
    'category.deleteMany without where': (live) => live.category.deleteMany(),
    'member.aggregate without where': (live) => live.member.aggregate({ _count: true }),
    'member.findFirst of an organization that is undefined': (live) =>
      live.member.findFirst({ where: { organizationId: undefined as unknown as string } }),
    'organizationSecurity.findFirst without where': (live) => live.organizationSecurity.findFirst(),
    'tag.updateMany of live rows in test mode': (_, test) => test.tag.updateMany({ where: own, data: { color: '' } }),
    'tag.create for another organization': (live) => live.tag.create({ data: { ...row, organizationId: ids.other } }),
    'tag.create in the other mode': (_, test) => test.tag.create({ data: row }),
    'tag.createMany with a row of another organization': (live) =>
      live.tag.createMany({ data: [row, { ...row, organizationId: ids.other }] }),
    'organizationRetention.upsert with a row of another organization': (live) =>
      live.organizationRetention.upsert({
        where: own,
        create: { organizationId: ids.other } as Prisma.OrganizationRetentionUncheckedCreateInput,
        update: {},
      }),
  }
  it.each(Object.entries(refused))('rejects %s', (name, call) => {
    const message = `${name.split(' ')[0]} is called without the scope of an organization`
    expect(() => call(inMode('live'), inMode('test'))).toThrow(message)
  })

  it('rejects the same calls in a transaction and in a savepoint', async () => {
    await transact(inMode('live'), async (inside) => {
      expect(() => inside.invite.findMany({ where: { id: ids.other } })).toThrow('without the scope')
      await transact(inside, async (deeper) => {
        expect(() => deeper.invite.findMany({ where: { id: ids.other } })).toThrow('without the scope')
      })
    })
  })

  it('rejects the same calls after a change of the mode, and with a signal', () => {
    const live = tenantDb(inMode('test'), { organization: { id: ids.own }, mode: 'live' })
    const abortable = withSignal(live, new AbortController().signal)
    for (const db of [live, abortable])
      expect(() => db.invite.findMany({ where: { ...own, mode: 'test' } })).toThrow('without the scope')
  })

  it('reads, creates, changes, and deletes rows of its scope, inside a transaction too', async () => {
    const { organization, db } = await createTenant()
    const scope = { organizationId: organization.id, mode: 'live' as const }
    const work = async (inside: TenantDb, name: string) => {
      const { id } = await inside.tag.create({ data: { ...tag(name), ...scope } })
      const key = { organizationId_id: { organizationId: organization.id, id } }
      await inside.tag.update({ where: { ...key, mode: 'live' }, data: { color: '#123456' } })
      expect(await inside.tag.findUnique({ where: { id, AND: [scope] }, select: { color: true } })).toEqual({ color: '#123456' })
      const byName = { organizationId_nameKey: { organizationId: organization.id, nameKey: name } }
      expect(await inside.tag.findUnique({ where: { ...byName, mode: 'live' }, select: { id: true } })).toEqual({ id })
      expect(await inside.tag.count({ where: scope })).toBe(1)
      expect((await inside.tag.deleteMany({ where: { ...scope, id } })).count).toBe(1)
    }
    await work(db, 'one')
    await transact(db, (inside) => work(inside, 'two'))
    await transact(db, (inside) => transact(inside, (deeper) => work(deeper, 'three')))
    expect(await withSignal(db, new AbortController().signal).tag.count({ where: scope })).toBe(0)
  })

  it('needs no mode for tables without modes, for both modes, and for live tags in test mode', async () => {
    expect(await inMode('live').member.count({ where: own })).toBe(0)
    expect(await inMode('all').invite.count({ where: own })).toBe(0)
    expect(await inMode('test').tag.count({ where: own })).toBe(0)
  })

  it('knows the model of each tenant table', () => {
    const client = inMode('live') as unknown as Record<string, { findMany: () => unknown }>
    const models = Object.keys(Prisma.ModelName).map((name) => name.charAt(0).toLowerCase() + name.slice(1))
    const scoped = models.filter((model) => {
      try {
        void client[model]!.findMany()
        return false
      } catch {
        return true
      }
    })
    expect(scoped).toHaveLength(Object.keys(TENANT_TABLES).length)
  })

  it('reads rows of all organizations only by unscopedPrisma', async () => {
    const { organization, db } = await createTenant()
    const category = await database.db.category.create({ data: { id: uuidv7(), organizationId: organization.id, name: 'one' } })
    const other = tenantDb(db, { organization: { id: ids.other }, mode: 'live' })
    expect(await unscopedPrisma(other).category.findUnique({ where: { id: category.id } })).toEqual(category)
    await transact(other, async (inside) => {
      expect(await unscopedPrisma(inside).category.findUnique({ where: { id: category.id } })).toEqual(category)
    })
  })
})

describe('the query compiler', () => {
  it.each(Object.entries(unscopedQueries))('rejects %s', (_, query) => {
    expect(() => (query(createTenantDb()) as unknown as { compile: () => unknown }).compile()).toThrow('without the scope')
  })

  const db = () => createTenantDb()
  const other = () => unscoped(database.db)
  const refused: Record<string, () => { compile: () => unknown }> = {
    "a sub-select of the statement's own table by name": () =>
      db()
        .selectFrom('tags')
        .select((eb) => ['id', eb.selectFrom('tags as other').select('other.name').limit(1).as('name')]),
    "a sub-select of the statement's own table in a condition": () =>
      db()
        .selectFrom('tags')
        .select('id')
        .where((eb) => eb.exists(eb.selectFrom('tags').select('id'))),
    'a table in a fragment': () =>
      db()
        .selectFrom('tags')
        .select('id')
        .where(sql<boolean>`exists (select from ${sql.table('invites')})`),
    'a query of all organizations in a condition': () =>
      db()
        .selectFrom('tags')
        .select('id')
        .where((eb) => eb.exists(other().selectFrom('invites').select('id'))),
    'a query of all organizations in a join': () =>
      db()
        .selectFrom('tags')
        .innerJoin(other().selectFrom('invites').select('id').as('invites'), (join) => join.onTrue())
        .select('tags.id'),
    'a query of all organizations in WITH': () =>
      db()
        .with('found', () => other().selectFrom('invites').select('id'))
        .selectFrom('found')
        .select('found.id'),
    'a SELECT without its conditions': () => db().selectFrom('tags').clearWhere().select('id'),
    'an UPDATE without its conditions': () => db().updateTable('tags').clearWhere().set({ name: '' }),
    'a DELETE without its conditions': () => db().deleteFrom('tags').clearWhere(),
    'a sub-select without its conditions': () =>
      db()
        .selectFrom('tags')
        .select('id')
        .where((eb) => eb.exists(db().selectFrom('invites').clearWhere().select('id'))),
    'a scope as one of two alternatives': () =>
      db()
        .selectFrom('tags')
        .clearWhere()
        .where((eb) => eb.or([eb('name', '=', ''), eb('color', '=', '')]))
        .select('id'),
  }
  it.each(Object.entries(refused))('rejects %s', (_, query) => {
    expect(() => query().compile()).toThrow('without the scope')
  })

  it('rejects a lock on a subquery, since PostgreSQL would lock all its rows', () => {
    const joined = () =>
      db()
        .selectFrom('submissions')
        .innerJoin(db().table('invites'), 'invites.id', 'submissions.inviteId')
        .select('submissions.id')
    for (const lock of [joined().forUpdate(), joined().forShare(['submissions', 'invites']), joined().forNoKeyUpdate('invites')])
      expect(() => lock.compile()).toThrow('A lock includes the rows of a sub-select')
    expect(joined().forUpdate('submissions').compile().sql).toMatch(/for update of "submissions"$/)
  })

  const prepared: Record<string, (outer: TenantDb) => Parameters<typeof prepareScoped>[0]> = {
    'of its first caller': (outer) => (own) =>
      own
        .selectFrom('tags')
        .select('id')
        .where((eb) => eb.exists(outer.selectFrom('invites').select('id'))),
    'of its first caller when reading the organization': (outer) => () => outer.selectFrom('organizations').select('id'),
    'of its first caller in a query over all organizations': (outer) => () =>
      unscoped()
        .selectFrom('eventSequence')
        .select((eb) => eb.exists(outer.selectFrom('invites').select('id')).as('found')),
    'of its first caller in inserted rows': (outer) => () =>
      insertFromSelect(outer, 'gradingViewers', outer.selectFrom('members'), (eb) => ({
        ...copyColumns(eb, 'organizationId'),
        submissionId: eb.ref('members.id'),
        memberId: eb.ref('members.id'),
        lastSeenAt: DEFAULT,
      })),
    'of its first caller in a list of IDs': (outer) => (own) =>
      own
        .selectFrom('tags')
        .select('id')
        .where('id', '=', anyOfIds([scopeOf(outer).organization.id])),
  }
  it.each(Object.entries(prepared))('rejects a prepared query with an ID %s', (_, make) => {
    const outer = createTenantDb()
    expect(() => prepareScoped(make(outer))(outer, {})).toThrow('A prepared statement has a value of its first caller')
  })

  it('keeps the scope of queries from other databases', () => {
    const { organization } = { organization: { id: uuidv7() } }
    const everywhere = tenantDb(database.db, { organization, mode: 'all' })
    const query = db()
      .selectFrom('tags')
      .select('id')
      .where((eb) => eb.exists(everywhere.selectFrom('invites').select('id')))
    expect(query.compile().parameters).toContain(organization.id)
  })
})

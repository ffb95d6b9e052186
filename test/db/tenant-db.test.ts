import { v7 as uuidv7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../../src/db/builder.ts'
import { anyOfIds, prepareScoped } from '../../src/db/queries.ts'
import { type Mode, scopeOf, type TenantDb, tenantDb } from '../../src/db/tenant-db.ts'
import { transact } from '../../src/db/transact.ts'
import { unscoped } from '../../src/db/unscoped.ts'
import { copyColumns, DEFAULT, insertFromSelect } from '../../src/db/writes.ts'
import { openTestDatabase, type TestDatabase } from '../support/processes.ts'
import { unscopedQueries } from './must-not-compile.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(() => database.db.$disconnect())

const at = new Date()
const tag = (name: string) => ({ id: uuidv7(), name, nameKey: name, nameSearch: name, color: '', createdAt: at, updatedAt: at })
async function enter(mode: Mode = 'live') {
  const organization = await database.make.organization()
  return { organization, db: tenantDb(database.db, { organization, mode }) }
}
const scopeless = () => tenantDb(database.db, { organization: { id: uuidv7() }, mode: 'live' })

describe('a tenant database', () => {
  it('reads, joins, changes, and deletes rows of its organization only', async () => {
    const [own, other] = [await enter(), await enter()]
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

  it('reads its own organization, and what all organizations share', async () => {
    const { organization, db } = await enter()
    expect(await db.selectFrom('organizations').select('id').execute()).toEqual([{ id: organization.id }])
    const code = uuidv7()
    await database.db.language.create({ data: { id: uuidv7(), code } })
    expect(await db.selectFrom('languages').select('code').where('code', '=', code).execute()).toEqual([{ code }])
  })

  it('reads tags of both modes in test mode, and changes test tags only', async () => {
    const { organization, db: live } = await enter()
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
    const all = tenantDb(scopeless(), { organization: { id: uuidv7() }, mode: 'all' })
    expect(() => all.insertInto('tags').values(tag('one'))).toThrow('mode')
  })

  it('keeps its scope in a transaction and in a savepoint', async () => {
    const { organization, db } = await enter()
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

describe('the query compiler', () => {
  it.each(Object.entries(unscopedQueries))('rejects %s', (_, query) => {
    expect(() => (query(scopeless()) as unknown as { compile: () => unknown }).compile()).toThrow('without the scope')
  })

  const db = () => scopeless()
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

  it('rejects a lock of a sub-select, of which PostgreSQL would lock every row', () => {
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
    const outer = scopeless()
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

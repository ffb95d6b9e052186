import { setTimeout as wait } from 'node:timers/promises'
import { v7 as uuidv7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../../src/db/builder.ts'
import { type Connection, createDb, openPool } from '../../src/db/client.ts'
import { isDatabaseBusy } from '../../src/db/errors.ts'
import { anyOfIds, project, type Rows } from '../../src/db/queries.ts'
import {
  affectedRows,
  allAsJson,
  compile,
  executeAll,
  jsonOf,
  jsonRowOf,
  prepare,
  rawStatement,
} from '../../src/db/statements.ts'
import { type Mode, type TenantDb, tenantDb } from '../../src/db/tenant-db.ts'
import { transact } from '../../src/db/transact.ts'
import { copyColumns, DEFAULT, givenRows, insertFromSelect, insertRows } from '../../src/db/writes.ts'
import { openTestDatabase, type TestDatabase } from '../support/processes.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(() => database.db.$disconnect())

/** Creates an organization with an assessment and invites to it. */
async function make(invites = 2) {
  const { id } = await database.make.organization()
  const owner = { organization: { id }, mode: 'all' as const }
  const assessment = await database.make.assessment(id, { name: 'Support' })
  const ids: string[] = []
  for (let i = 0; i < invites; i++) ids.push((await database.make.invite(assessment, { recipientEmail: `${i}@example.com` })).id)
  return { owner, assessment, ids }
}
const within = (owner: { organization: { id: string }; mode: Mode }, db: Connection = database.db) => tenantDb(db, owner)
const pidOf = async (db: Connection) =>
  (await rawStatement(db, sql<{ pid: number }>`select pg_backend_pid() as pid`).executeTakeFirstOrThrow()).pid

describe('a statement', () => {
  it("uses the schema's names in the query and in the result", async () => {
    const { owner, ids } = await make()
    const query = within(owner)
      .selectFrom('invites')
      .select(['recipientEmail', 'sentAt', 'status'])
      .select((eb) => eb.ref('invites.answerRecordLimit').as('recordLimit'))
      .orderBy('recipientEmail')
    expect(Object.keys((await query.execute())[0]!)).toEqual(['recipientEmail', 'sentAt', 'status', 'recordLimit'])
    expect((await query.executeTakeFirst())!.sentAt).toBeInstanceOf(Date)
    const updated = within(owner)
      .updateTable('invites')
      .set({ customMessage: 'Hello' })
      .where('id', '=', ids[0]!)
      .returning('customMessage')
    expect(await updated.executeTakeFirstOrThrow()).toEqual({ customMessage: 'Hello' })
  })

  it("is limited to its organization: it finds, changes, and deletes no other's rows", async () => {
    const [mine, theirs] = [await make(), await make()]
    const which = anyOfIds(theirs.ids)
    expect(await within(mine.owner).selectFrom('invites').select('id').where('id', '=', which).execute()).toEqual([])
    expect(await affectedRows(within(mine.owner).updateTable('invites').set({ customMessage: '' }).where('id', '=', which))).toBe(
      0,
    )
    expect(await affectedRows(within(mine.owner).deleteFrom('invites').where('id', '=', which))).toBe(0)
    expect(await affectedRows(within(theirs.owner).deleteFrom('invites').where('id', '=', which))).toBe(2)
    expect(await within(mine.owner).selectFrom('organizations').select('id').execute()).toEqual([
      { id: mine.owner.organization.id },
    ])
  })

  it('finds rows shared by all organizations', async () => {
    const code = uuidv7()
    await database.db.language.create({ data: { id: uuidv7(), code } })
    expect(
      await within({ organization: { id: '' }, mode: 'all' })
        .selectFrom('languages')
        .select('code')
        .where('code', '=', code)
        .execute(),
    ).toEqual([{ code }])
    expect(
      await within({ organization: { id: '' }, mode: 'all' })
        .selectFrom('mailOutages')
        .select('since')
        .execute(),
    ).toEqual([])
  })

  it('must select its columns one by one', () => {
    expect(() =>
      compile(
        within({ organization: { id: '' }, mode: 'all' })
          .selectFrom('tags')
          .selectAll(),
      ),
    ).toThrow('column by column')
  })

  it('returns rows as JSON from PostgreSQL, each with the columns of its view', async () => {
    const { owner, ids } = await make()
    const show = (invites: Rows<'invites'>, db: TenantDb) =>
      invites.select((eb) => [
        'id',
        'sentAt',
        eb
          .selectFrom(db.table('assessments'))
          .select('assessments.name')
          .whereRef('assessments.id', '=', 'invites.assessmentId')
          .as('assessmentName'),
      ])
    const page = within(owner).selectFrom('invites').orderBy('recipientEmail', 'desc').limit(1)
    const rows = await allAsJson(database.db, project(within(owner), page, 'invites', show))
    expect(rows).toEqual([{ id: ids[1], sentAt: expect.stringMatching(/^\d{4}-/), assessmentName: 'Support' }])
    const counted = within(owner)
      .with('mine', () => within(owner).selectFrom('invites').select('id'))
      .selectFrom('mine')
      .select((eb) => [eb.fn.countAll<string>().as('total'), jsonOf(project(within(owner), page, 'invites', show)).as('rows')])
    expect(await counted.executeTakeFirstOrThrow()).toMatchObject({ total: '2', rows })
    expect(await allAsJson(database.db, within(owner).selectFrom('tags').select('id'))).toEqual([])
  })

  it('returns rows as JSON with any names of columns', async () => {
    const { owner } = await make()
    const assessments = within(owner).selectFrom('assessments').select('name as answer')
    expect(await allAsJson(database.db, assessments)).toEqual([{ answer: 'Support' }])
    expect(
      await within(owner)
        .selectNoFrom(() => [jsonRowOf(assessments).as('first')])
        .execute(),
    ).toEqual([{ first: { answer: 'Support' } }])
  })

  it('is built once if prepared, for each set of parameters', async () => {
    const { owner, ids } = await make()
    let made = 0
    const find = prepare(
      ({ organizationId, id, email }: { organizationId: string; id?: string; email?: string }, order: 'asc' | 'desc') => {
        made++
        let query = within({ organization: { id: organizationId }, mode: 'all' })
          .selectFrom('invites')
          .select('id')
          .orderBy('recipientEmail', order)
        if (id !== undefined) query = query.where('id', '=', id)
        if (email !== undefined) query = query.where('recipientEmail', '=', email)
        return query
      },
    )
    const organizationId = owner.organization.id
    const found = async (...given: Parameters<typeof find> extends [Connection, ...infer Given] ? Given : never) =>
      (await find(database.db, ...given).execute()).map(({ id }) => id)
    expect(await found({ organizationId }, 'asc')).toEqual(ids)
    expect(await found({ organizationId }, 'desc')).toEqual(ids.toReversed())
    for (const id of ids) expect(await found({ organizationId, id }, 'asc')).toEqual([id])
    expect(made).toBe(3)
    const looks = prepare(({ id }: { id: string }) =>
      within({ organization: { id: `${id}` }, mode: 'all' })
        .selectFrom('tags')
        .select('id'),
    )
    expect(() => looks(database.db, { id: 'x' })).toThrow("can't depend on id")
  })
})

describe('a write', () => {
  it('copies rows with changed columns and defaults', async () => {
    const { owner, assessment } = await make(1)
    const question = await database.make.question(assessment, { script: 'Who are you?', points: 3 })
    const newId = uuidv7()
    const copy = insertFromSelect(
      database.db,
      'questions',
      within(owner).selectFrom('questions').where('id', '=', question.id),
      (eb) =>
        ({
          ...copyColumns(eb, ...(Object.keys(question) as 'script'[]).filter((column) => !['id', 'order'].includes(column))),
          id: eb.cast<string>(eb.val(newId), 'uuid'),
          order: sql<number>`${eb.ref('order')} + 1`,
        }) as never,
    )
    expect(await affectedRows(copy)).toBe(1)
    const { id, order, ...rest } = await database.db.question.findFirstOrThrow({ where: { id: newId } })
    expect([id, order]).toEqual([newId, question.order + 1])
    expect(rest).toEqual({ ...question, id: undefined, order: undefined })
    expect(
      compile(insertFromSelect(database.db, 'tags', within(owner).selectFrom('tags'), () => ({ name: DEFAULT }) as never)).text,
    ).not.toContain('"name"')
  })

  it('inserts rows of several tables in one statement, with all column types', async () => {
    const { owner, ids } = await make(1)
    const organizationId = owner.organization.id
    const tags = ['a', 'b"\\'].map((name) => ({
      id: uuidv7(),
      organizationId,
      name,
      nameKey: name,
      nameSearch: name,
      color: '',
      ...times(),
    }))
    const inviteTags = tags.map(({ id }, position) => ({ organizationId, inviteId: ids[0]!, tagId: id, position }))
    const keys = [{ organizationId, key: 'k', fingerprint: Buffer.from([0, 255]), createdAt: new Date(1_000) }]
    await insertRows(database.db, { inviteTags, tags, idempotencyRecords: keys, invites: [] }).execute()
    const found = await within(owner).selectFrom('tags').select('name').orderBy('name').execute()
    expect(found.map(({ name }) => name)).toEqual(['a', 'b"\\'])
    const key = await within(owner)
      .selectFrom('idempotencyRecords')
      .select(['fingerprint', 'createdAt'])
      .executeTakeFirstOrThrow()
    expect(key).toEqual({ fingerprint: Buffer.from([0, 255]), createdAt: new Date(1_000) })
  })

  it('takes rows as a table in one parameter', async () => {
    const { owner, ids } = await make()
    const given = givenRows('invites', [{ id: ids[0]!, customMessage: 'Hello', sentAt: new Date(1_000) }]).as('given')
    const update = within(owner)
      .updateTable('invites')
      .from(given)
      .whereRef('invites.id', '=', 'given.id')
      .set((eb) => ({ customMessage: eb.ref('given.customMessage'), sentAt: eb.ref('given.sentAt') }))
    expect(await affectedRows(update)).toBe(1)
    const [first, second] = await within(owner)
      .selectFrom('invites')
      .select(['customMessage', 'sentAt'])
      .orderBy('recipientEmail')
      .execute()
    expect(first).toEqual({ customMessage: 'Hello', sentAt: new Date(1_000) })
    expect(second!.customMessage).not.toBe('Hello')
  })

  it('keeps the WITH clause of the rows it inserts', async () => {
    const { owner, ids } = await make(1)
    const changed = within(owner)
      .with('changed', () =>
        within(owner).updateTable('invites').set({ customMessage: 'changed' }).returning(['id', 'organizationId']),
      )
      .selectFrom('changed')
    const tag = uuidv7()
    const now = new Date()
    const insertion = insertFromSelect(database.db, 'tags', changed, (eb) => ({
      ...copyColumns(eb, 'organizationId'),
      id: eb.cast<string>(eb.val(tag), 'uuid'),
      name: eb.ref('id').$castTo<string>(),
      nameKey: eb.ref('id').$castTo<string>(),
      nameSearch: eb.ref('id').$castTo<string>(),
      color: eb.val(''),
      mode: DEFAULT,
      description: DEFAULT,
      icon: DEFAULT,
      createdById: DEFAULT,
      createdAt: eb.cast<Date>(eb.val(now), 'timestamptz'),
      updatedAt: eb.cast<Date>(eb.val(now), 'timestamptz'),
    }))
    expect(await insertion.returning('name').execute()).toEqual([{ name: ids[0] }])
  })

  it('can update on conflict', async () => {
    const { owner } = await make(0)
    const tag = {
      id: uuidv7(),
      name: 'one',
      nameKey: 'one',
      nameSearch: 'one',
      color: '',
      ...times(),
    }
    const write = within({ ...owner, mode: 'live' })
      .insertInto('tags')
      .values(tag)
      .onConflict((conflict) => conflict.column('id').doUpdateSet((eb) => ({ name: sql`${eb.ref('tags.name')} || ' more'` })))
    expect(await affectedRows(write.returning('id'))).toBe(1)
    expect(await write.returning('name').execute()).toEqual([{ name: 'one more' }])
  })

  it('is rolled back with the other writes of its batch', async () => {
    const { owner, ids } = await make(1)
    const write = within(owner).updateTable('invites').set({ customMessage: 'together' }).where('id', '=', ids[0]!)
    const fails = rawStatement(database.db, sql`select 1 / 0`)
    await expect(executeAll(database.db, [write, fails])).rejects.toThrow('division by zero')
    expect((await database.db.invite.findFirstOrThrow({ where: { id: ids[0]! } })).customMessage).not.toBe('together')
    expect(await executeAll(database.db, [write, within(owner).selectFrom('invites').select('customMessage')])).toEqual([
      { customMessage: 'together' },
    ])
  })
})

const times = () => ({ createdAt: new Date(), updatedAt: new Date() })

describe('a transaction', () => {
  it('runs Prisma and statements on one connection, and rolls both back', async () => {
    const { owner, ids } = await make(1)
    const work = transact(database.db, async (inside) => {
      const [{ pid }] = (await inside.$queryRaw`SELECT pg_backend_pid() AS pid`) as [{ pid: number }]
      expect(await pidOf(inside)).toBe(pid)
      await within(owner, inside).updateTable('invites').set({ customMessage: 'changed' }).where('id', '=', ids[0]!).execute()
      expect((await inside.invite.findFirstOrThrow({ where: { id: ids[0]! } })).customMessage).toBe('changed')
      throw new Error('undone')
    })
    await expect(work).rejects.toThrow('undone')
    expect((await database.db.invite.findFirstOrThrow({ where: { id: ids[0]! } })).customMessage).not.toBe('changed')
  })

  it('has savepoints: a failure in one is undone alone', async () => {
    const { owner, ids } = await make(1)
    const set = (db: Connection, message: string) =>
      within(owner, db).updateTable('invites').set({ customMessage: message }).where('id', '=', ids[0]!)
    await transact(database.db, async (inside) => {
      await set(inside, 'first').execute()
      const failed = transact(inside, async (deeper) => {
        await set(deeper, 'second').execute()
        await rawStatement(deeper, sql`select 1 / 0`).execute()
      })
      await expect(failed).rejects.toThrow('division by zero')
      await expect(executeAll(inside, [set(inside, 'third'), rawStatement(inside, sql`select 1 / 0`)])).rejects.toThrow(
        'division by zero',
      )
    })
    expect((await database.db.invite.findFirstOrThrow({ where: { id: ids[0]! } })).customMessage).toBe('first')
  })

  it('rejects statements after its end or its timeout', async () => {
    let late: Connection | undefined
    await transact(database.db, async (inside) => {
      late = inside
    })
    await expect(pidOf(late!)).rejects.toThrow('the transaction is over')

    const tooLong = transact(
      database.db,
      async (inside) => {
        await pidOf(inside)
        await wait(400)
        await pidOf(inside)
      },
      { timeout: 100 },
    )
    const error = await tooLong.catch((error: unknown) => error)
    expect(isDatabaseBusy(error)).toBe(true)
  })

  it('rejects statements if it was not started by transact', async () => {
    await expect(database.db.$transaction((inside) => pidOf(inside))).rejects.toThrow('transact')
  })

  it('uses a separate connection for each of several concurrent transactions', async () => {
    const pids = await Promise.all(
      [1, 2, 3].map(() =>
        transact(database.db, async (inside) => {
          const pid = await pidOf(inside)
          await wait(20)
          return [pid, await pidOf(inside)]
        }),
      ),
    )
    expect(new Set(pids.flat()).size).toBe(3)
    for (const [before, after] of pids) expect(after).toBe(before)
  })
})

it('releases its pool even if no query went through Prisma', async () => {
  const { url } = database
  const pool = openPool(url, { max: 1 })
  const db = createDb(pool)
  await pidOf(db)
  await db.$disconnect()
  expect([pool.ended, pool.totalCount]).toEqual([true, 0])
})

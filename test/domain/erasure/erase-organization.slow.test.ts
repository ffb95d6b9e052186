import { beforeAll, describe, expect, it } from 'vitest'
import { connect, sessionOf } from '../../../src/db/client.ts'
import type { ServiceContext } from '../../../src/domain/context.ts'
import {
  eraseRestoredOrganizations,
  findRestoredOrganizations,
} from '../../../src/domain/erasure/erase-restored-organizations.ts'
import {
  continueSuspension,
  findSuspension,
  liftSuspension,
  SUSPENSION_DAYS,
  suspendOrganization,
} from '../../../src/domain/erasure/suspension.ts'
import { daysAfter } from '../../../src/domain/time/days.ts'
import { asEraser, dumpRows, linesOf, listStore, makeErasable } from '../../support/erasing.ts'
import { joinAs } from '../../support/portal.ts'
import { scaled } from '../../support/scale.ts'
import { startServiceForFile } from '../../support/service.ts'
import { TO_LOOPBACK } from '../../support/webhooks.ts'

const service = await startServiceForFile(TO_LOOPBACK)

/** Tables that change by themselves: the queue, counters, and the handover of events. */
const MOVING = /^(pgboss|public\.(event_sequence|audit_sequence|webhook_fanout|ats_fanout|sweep_parts|used_tokens))/

/** The service's context with the clock moved ahead. */
const later = (days: number, more: object = {}): ServiceContext => {
  const at = daysAfter(service.clock.now(), days)
  return { ...service.system, deps: { ...service.system.deps, clock: () => at, ...more } }
}

/** Suspends the organization. `mails` reads the kinds of the mails about it so far. */
async function suspend(organization: { id: string; name: string }) {
  const { id } = await suspendOrganization(asEraser(service, organization), { name: organization.name })
  const mails = async () =>
    (await service.db.memberEmail.findMany({ where: { organizationId: organization.id }, orderBy: { id: 'asc' } })).flatMap(
      ({ kind }) => (kind.startsWith('organization_') ? [kind] : []),
    )
  return { id, mails }
}

async function withAdmin() {
  const organization = await service.make.organization()
  const email = `${service.make.unique('admin').replace(' ', '')}@example.com`
  await service.make.member(organization.id, { roles: ['admin'], email })
  return organization
}

/** Suspends the organization and sends the reminder to its owners when it is due. Returns the id of the receipt. */
async function suspendAndRemind(organization: { id: string; name: string }): Promise<string> {
  const { id } = await suspend(organization)
  await continueSuspension(later(SUSPENSION_DAYS - 3), id)
  return id
}

/** Number of failures of the media store. */
const REFUSALS = scaled(2, 20)

const countOf = async ({ id: organizationId }: { id: string }) => ({
  invites: await service.db.invite.count({ where: { organizationId } }),
  submissions: await service.db.submission.count({ where: { organizationId } }),
})

const lines = (id: string) => linesOf(service, id)

describe('an erased organization', () => {
  let gone: Awaited<ReturnType<typeof makeErasable>>
  let kept: Awaited<ReturnType<typeof makeErasable>>
  let before: Map<string, string[]>
  let after: Map<string, string[]>
  let stored: { before: string[]; after: string[] }
  let receipt: string
  let had: Awaited<ReturnType<typeof countOf>>
  /** Ids of all rows of the erased organization, and of the accounts that belong to no other one. */
  const theirs = new Set<string>()
  let shared: { credentialId: string; userId: string }
  const isInbound = (row: string) => [...row.matchAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g)].some(([id]) => theirs.has(id))

  beforeAll(async () => {
    gone = await makeErasable(service)
    kept = await makeErasable(service)
    const both = await joinAs(service, gone.organization)
    const elsewhere = await service.make.member(kept.organization.id)
    const { credentialId, userId } = await service.db.member.findFirstOrThrow({
      where: { organizationId: gone.organization.id, credentialId: { not: null } },
      orderBy: { id: 'desc' },
    })
    shared = { credentialId: credentialId!, userId }
    await service.db.member.update({ where: { id: elsewhere.id }, data: { credentialId } })
    expect((await both.get(both.home)).status).toBe(200)
    before = await dumpRows(service)
    for (const [name, rows] of before)
      for (const row of rows.filter((one) => !name.startsWith('pgboss') && one.includes(gone.organization.id))) {
        const { id, user_id, credential_id } = JSON.parse(row)
        for (const one of [id, user_id, credential_id]) if (typeof one === 'string' && one.length === 36) theirs.add(one)
      }
    theirs.delete(shared.credentialId)
    stored = { before: await listStore(service), after: [] }
    expect(stored.before.filter((key) => key.startsWith(gone.organization.id)).length).toBeGreaterThan(3)
    had = await countOf(gone.organization)
    receipt = await suspendAndRemind(gone.organization)
    await continueSuspension(later(SUSPENSION_DAYS), receipt)
    after = await dumpRows(service)
    stored.after = await listStore(service)
  })

  it('leaves nothing in any table or in the store', () => {
    const words = [gone.organization.id, gone.organization.name]
    const rows = [...after].flatMap(([name, all]) => all.map((row) => `${name} ${row}`))
    expect(rows.filter((row) => isInbound(row) || words.some((word) => row.includes(word)))).toEqual([])
    expect(theirs.size).toBeGreaterThan(50)
    expect(stored.after).toEqual(stored.before.filter((key) => !key.startsWith(gone.organization.id)))
    expect(stored.after.length).toBeGreaterThan(3)
  })

  it('leaves another organization unchanged byte for byte, and the accounts that are in both', async () => {
    for (const [name, rows] of before) {
      if (MOVING.test(name)) continue
      const others = rows.filter((row) => !isInbound(row) && !row.includes(gone.organization.id))
      expect([name, [...(after.get(name) ?? [])].sort()]).toEqual([name, others.sort()])
    }
    expect(await service.db.credential.count({ where: { id: shared.credentialId } })).toBe(1)
    expect(await service.db.user.count({ where: { id: shared.userId } })).toBe(0)
    expect((await kept.v1.get('/invites')).status).toBe(200)
  })

  it('has a receipt only in the log, which counts what was erased and names nobody', async () => {
    const [line, ...more] = await lines(receipt)
    expect(more).toEqual([])
    expect(JSON.parse(line!)).toMatchObject({
      ...{ id: receipt, organizationId: gone.organization.id, subject: 'organization', actor: { kind: 'operator', id: null } },
      counts: { ...had, assessments: 3, accounts: 1, media: expect.any(Number), members: expect.any(Number) },
    })
    expect(line).not.toContain(gone.organization.name)
    expect(line).not.toContain('@')
  })
})

it('sends one reminder to a suspended organization, and erases nothing after an owner keeps it', async () => {
  const organization = await withAdmin()
  const { id, mails } = await suspend(organization)
  expect(await suspend(organization)).toMatchObject({ id })
  expect(await mails()).toEqual(['organization_ending'])
  await expect(continueSuspension(later(SUSPENSION_DAYS - 4), id)).rejects.toThrow('Nothing is due')
  for (const _ of [1, 2]) await continueSuspension(later(SUSPENSION_DAYS - 2), id)
  expect(await mails()).toEqual(['organization_ending', 'organization_ending_soon'])
  const ctx = asEraser(service, organization)
  expect([await liftSuspension(ctx), await liftSuspension(ctx)]).toEqual([true, false])
  expect(await findSuspension(ctx)).toBe(null)
  await continueSuspension(later(SUSPENSION_DAYS + 1), id)
  expect(await service.db.organization.count({ where: { id: organization.id } })).toBe(1)
  expect(await mails()).toEqual(['organization_ending', 'organization_ending_soon', 'organization_kept'])
  expect(await lines(id)).toEqual([])
})

it('erases no organization before its owners had three days after a late reminder', async () => {
  const organization = await withAdmin()
  const { id, mails } = await suspend(organization)
  const isThere = async () => (await service.db.organization.count({ where: { id: organization.id } })) > 0
  const late = SUSPENSION_DAYS + 5
  for (const days of [late, late + 2.9]) await continueSuspension(later(days), id)
  expect(await isThere()).toBe(true)
  const { facts } = await service.db.memberEmail.findFirstOrThrow({
    where: { organizationId: organization.id, kind: 'organization_ending_soon' },
  })
  const erasesAt = later(late + 3).deps.clock()
  expect([await mails(), facts]).toEqual([
    ['organization_ending', 'organization_ending_soon'],
    expect.objectContaining({ until: erasesAt.toISOString() }),
  ])
  expect((await findSuspension(asEraser(service, organization)))!.erasesAt).toEqual(erasesAt)
  expect(
    await service.db.$queryRaw`SELECT start_after FROM pgboss.job WHERE data->>'suspensionId' = ${id} ORDER BY 1 DESC LIMIT 1`,
  ).toEqual([{ start_after: erasesAt }])
  await continueSuspension(later(late + 3), id)
  expect(await isThere()).toBe(false)
})

it("rejects a suspension with any name but the organization's", async () => {
  const organization = await service.make.organization()
  const asked = suspendOrganization(asEraser(service, organization), { name: 'Another' })
  await expect(asked).rejects.toMatchObject({ kind: 'invalid', issues: [{ field: 'name', problem: 'otherName' }] })
  expect(await findSuspension(asEraser(service, organization))).toBe(null)
})

it("finishes an organization's erasure once with a correct receipt, despite stops and storage errors", async () => {
  const { organization } = await makeErasable(service, { others: 1 })
  const id = await suspendAndRemind(organization)
  const had = await countOf(organization)
  // Rolls back each part several times, as if the process was killed in the middle of it.
  await service.db.$executeRawUnsafe('CREATE SEQUENCE stops')
  await service.db.$executeRawUnsafe(`CREATE FUNCTION stop_erasing() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF OLD.counts <> NEW.counts AND nextval('stops') % ${scaled(2, 3)} <> 0 THEN RAISE EXCEPTION 'stopped'; END IF;
      RETURN NEW;
    END $$`)
  await service.db.$executeRawUnsafe(
    'CREATE TRIGGER stop_erasing BEFORE UPDATE ON organization_suspensions FOR EACH ROW EXECUTE FUNCTION stop_erasing()',
  )
  let refusals = REFUSALS
  const media = {
    ...service.system.deps.media,
    deletePrefix: async (prefix: string) => {
      if (refusals-- > 0) throw new Error('the store is away')
      await service.system.deps.media.deletePrefix(prefix)
    },
  }
  const refusing = later(SUSPENSION_DAYS, { media })
  const failures: string[] = []
  for (let isOver = false; !isOver; expect(failures.length).toBeLessThan(300))
    isOver = await continueSuspension(refusing, id).then(
      () => true,
      (error) => failures.push(error.message) < 0,
    )
  await service.db.$executeRawUnsafe('DROP TRIGGER stop_erasing ON organization_suspensions')
  expect(failures.filter((message) => message.includes('store'))).toHaveLength(REFUSALS)
  expect(failures.length).toBeGreaterThan(REFUSALS + 10)
  expect(await lines(id)).toHaveLength(1)
  const { counts } = JSON.parse((await lines(id))[0]!)
  expect(counts).toMatchObject({ ...had, assessments: 3 })
  expect(await service.db.organization.count({ where: { id: organization.id } })).toBe(0)
  // An erasure in progress can't be canceled.
  expect(await liftSuspension(asEraser(service, organization))).toBe(false)
})

it('erases nothing if an owner keeps the organization at the very moment of its erasure', async () => {
  const { organization } = await makeErasable(service, { others: 1 })
  const id = await suspendAndRemind(organization)
  const [had, stored] = [await countOf(organization), await listStore(service)]
  const { organizationSuspension } = service.db
  const keptMeanwhile = new Proxy(organizationSuspension, {
    get: (holds, name) =>
      name === 'findUnique'
        ? async (asked: Parameters<typeof organizationSuspension.findUnique>[0]) => {
            const found = await organizationSuspension.findUnique(asked)
            expect(await liftSuspension(asEraser(service, organization))).toBe(true)
            return found
          }
        : Reflect.get(holds, name),
  })
  const altered = new Proxy(service.db, {
    get: (given, name) => (name === 'organizationSuspension' ? keptMeanwhile : Reflect.get(given, name)),
  })
  const db = connect(altered, sessionOf(service.db))
  await continueSuspension({ ...later(SUSPENSION_DAYS), db }, id)
  expect(await lines(id)).toEqual([])
  expect(await countOf(organization)).toEqual(had)
  expect(await listStore(service)).toEqual(stored)
})

it("deletes an organization's job that a dead process had started", async () => {
  const { id: organizationId } = await service.make.organization()
  const [{ id }] = await service.db.$queryRaw<[{ id: string }]>`
    INSERT INTO pgboss.job (name, data, state, retry_limit, retry_delay, started_on, heartbeat_on, heartbeat_seconds, expire_seconds)
    VALUES ('library-import', ${JSON.stringify({ organizationId })}::jsonb, 'active', 5, 3600,
      now() - interval '1 hour', now() - interval '1 hour', 10, 86400) RETURNING id::text`
  expect(await service.deps.queue.purgeOrganization(organizationId)).toBe(0)
  expect(await service.db.$queryRaw`SELECT id FROM pgboss.job WHERE id = ${id}::uuid`).toEqual([])
})

it('finds and erases an organization again after a restore, but not a new one with its ID', async () => {
  const organization = await service.make.organization()
  const {
    pageLinks: _,
    decisionNames: __,
    ...row
  } = await service.db.organization.findUniqueOrThrow({ where: { id: organization.id } })
  const id = await suspendAndRemind(organization)
  await continueSuspension(later(SUSPENSION_DAYS), id)
  expect(await findRestoredOrganizations(service.system)).toEqual([])
  await service.db.organization.create({ data: { ...row, createdAt: daysAfter(row.createdAt, 30) } })
  expect(await findRestoredOrganizations(service.system)).toEqual([])
  await service.db.organization.update({ where: { id: row.id }, data: { createdAt: row.createdAt } })
  expect(await eraseRestoredOrganizations(service.system)).toMatchObject([{ id, organizationId: organization.id }])
  expect(await findRestoredOrganizations(service.system)).toEqual([])
  expect(await lines(id)).toHaveLength(1)
  // After the second restore, an owner requests another erasure. Then the same backup is restored again.
  await service.db.organization.create({ data: row })
  await continueSuspension(later(SUSPENSION_DAYS), await suspendAndRemind(organization))
  await service.db.organization.create({ data: row })
  expect(await eraseRestoredOrganizations(service.system)).toMatchObject([{ organizationId: organization.id }])
  expect(await findRestoredOrganizations(service.system)).toEqual([])
})

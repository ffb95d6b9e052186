import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { compile } from '../../../src/db/statements.ts'
import { requestCandidateArchive } from '../../../src/domain/archives/request-archive.ts'
import type { Context } from '../../../src/domain/context.ts'
import { continueErasure } from '../../../src/domain/erasure/continue-erasure.ts'
import { dueInvites, MODES, RETENTION_RULES, type RetentionDays } from '../../../src/domain/erasure/due-invites.ts'
import { eraseDueInvites } from '../../../src/domain/erasure/erase-due-invites.ts'
import { getErasure } from '../../../src/domain/erasure/erasures.ts'
import { requestErasure } from '../../../src/domain/erasure/request-erasure.ts'
import { changeRetention, previewRetention, readRetention } from '../../../src/domain/erasure/retention.ts'
import { liftSuspension, suspendOrganization } from '../../../src/domain/erasure/suspension.ts'
import { reactivateInvite } from '../../../src/domain/invites/operate-invite.ts'
import { daysAfter } from '../../../src/domain/time/days.ts'
import { inTransaction } from '../../../src/domain/transaction.ts'
import { readArchive } from '../../support/archives.ts'
import { asEraser, dumpRows, hitsIn, listStore, makeErasable } from '../../support/erasing.ts'
import { DAY_MS } from '../../support/factories.ts'
import { fieldsIn } from '../../support/forms.ts'
import { signInAs } from '../../support/portal.ts'
import { startServiceForFile } from '../../support/service.ts'
import { itSlow } from '../../support/slow.ts'
import { submitRows } from '../../support/submissions.ts'
import { waitUntil } from '../../support/wait-until.ts'
import { TO_LOOPBACK } from '../../support/webhooks.ts'

const service = await startServiceForFile(TO_LOOPBACK)
const { db, make } = service
const NEVER: RetentionDays = { completed: null, expired: null, revoked: null }

const daysAgo = (days: number) => new Date(service.clock.now().getTime() - days * DAY_MS)
const set = (ctx: Context, kept: Partial<RetentionDays>) => changeRetention(ctx, { kept: { ...NEVER, ...kept }, isSure: true })
/** Sets the rules in force since yesterday, and the next run to now. */
const startRulesNow = (organizationId: string) =>
  db.organizationRetention.update({ where: { organizationId }, data: { beginsAt: daysAgo(1), nextAt: daysAgo(1) } })

/** Runs the retention sweep as if a day had passed, since it checks the rules once a day. */
async function sweep(organizationId: string) {
  await startRulesNow(organizationId)
  return eraseDueInvites(service.system)
}

describe('the retention page', () => {
  it('shows the invites that the first run erases, asks for confirmation, and starts a day later', async () => {
    const organization = await make.organization()
    const assessment = await make.assessment(organization.id)
    for (const days of [31, 40, 400]) await make.invite(assessment, { status: 'completed', completedAt: daysAgo(days) })
    await make.invite(assessment, { status: 'expired', expiresAt: daysAgo(61), mode: 'test' })
    const owner = await signInAs(service, organization.id, ['admin'], ['owner'])
    const page = `${owner.home}settings/retention`
    expect((await owner.get(`${owner.home}settings`)).text).toContain(page)
    const save = (fields: Record<string, string>) => owner.post(page, fields)

    const few = await save({ completed: '29', expired: '', revoked: '' })
    expect([few.status, few.text]).toEqual([422, expect.stringContaining('30')])
    const asked = await save({ completed: '35', expired: '60', revoked: '' })
    expect(asked.status).toBe(422)
    expect(asked.text).toContain('erases 3 invites (2 completed, 1 expired)')
    expect(fieldsIn(asked)).toMatchObject({ completed: '35', expired: '60' })
    expect(await db.organizationRetention.count({ where: { organizationId: organization.id } })).toBe(0)
    const other = await save({ completed: '30', expired: '60', revoked: '', sure: '35 60 ever' })
    expect([other.status, other.text]).toEqual([422, expect.stringContaining('erases 4 invites')])

    const saved = await save({ completed: '35', expired: '60', revoked: '', sure: '35 60 ever' })
    expect([saved.status, saved.headers.location]).toEqual([303, `${page}?done=saved`])
    const ctx = asEraser(service, organization)
    const { kept, beginsAt } = await readRetention(ctx)
    expect(kept).toEqual({ completed: 35, expired: 60, revoked: null })
    expect(beginsAt!.getTime() - service.clock.now().getTime()).toBeGreaterThan(DAY_MS)
    expect(beginsAt!.getTime() % DAY_MS).toBe(0)
    expect((await owner.get(page)).text).toContain('Nothing is erased before')

    const longer = await save({ completed: '90', expired: '60', revoked: '' })
    expect(longer.status).toBe(303)
    expect((await readRetention(ctx)).beginsAt).toEqual(beginsAt)
    const where = { organizationId: organization.id, action: 'changed_retention' }
    const entries = await db.auditEntry.findMany({ where, orderBy: { id: 'asc' } })
    expect(entries.map(({ details }) => details)).toEqual([
      { completed: { before: null, after: 35 }, expired: { before: null, after: 60 } },
      { completed: { before: 35, after: 90 } },
    ])
    expect(await db.memberEmail.count({ where: { memberId: owner.member.id, kind: 'retention_changed' } })).toBe(2)
  })

  it("rejects admins who aren't owners, and saves based on an outdated page", async () => {
    const organization = await make.organization()
    const owner = await signInAs(service, organization.id, ['admin'], ['owner'])
    await db.organization.update({ where: { id: organization.id }, data: { ownerNamedAt: service.clock.now() } })
    const admin = await signInAs(service, organization.id, ['admin'])
    const page = `${owner.home}settings/retention`
    expect((await admin.get(page)).status).toBe(404)
    const { seen } = fieldsIn(await owner.get(page))
    await set(asEraser(service, organization), { completed: 100 })
    const late = await owner.post(page, { completed: '', expired: '40', revoked: '', seen: seen!, sure: 'ever 40 ever' })
    expect(late.status).toBe(422)
    expect((await readRetention(asEraser(service, organization))).kept).toEqual({ ...NEVER, completed: 100 })
  })
})

describe('a retention run', () => {
  it('erases nothing the day before, then each due invite once, and counts them by rule', async () => {
    const organization = await make.organization()
    const ctx = asEraser(service, organization)
    const assessment = await make.assessment(organization.id)
    const midnight = Math.floor(service.clock.now().getTime() / DAY_MS) * DAY_MS
    const at = (days: number, milliseconds = 0) => new Date(midnight - days * DAY_MS + milliseconds)
    const of = async (data: Parameters<typeof make.invite>[1]) => (await make.invite(assessment, data)).id
    const due = [
      await of({ status: 'completed', completedAt: at(30, -1) }),
      await of({ status: 'completed', completedAt: at(90), mode: 'test' }),
      await of({ status: 'revoked', revokedAt: at(41), declinedAt: at(41) }),
    ]
    const kept = [
      await of({ status: 'completed', completedAt: at(30) }),
      await of({ status: 'revoked', revokedAt: at(39) }),
      await of({ status: 'expired', expiresAt: at(3_000) }),
      await of({ status: 'pending', expiresAt: at(1) }),
      await of({ status: 'started', startedAt: at(300) }),
    ]
    const other = await make.invite(await make.assessment((await make.organization()).id), {
      status: 'completed',
      completedAt: at(999),
    })
    await set(ctx, { completed: 30, revoked: 40 })
    expect(await eraseDueInvites(service.system)).toBe(0)
    const { beginsAt } = await readRetention(ctx)
    service.clock.set(beginsAt!.getTime() - 1)
    expect(await eraseDueInvites(service.system)).toBe(0)
    expect(await db.invite.count({ where: { organizationId: organization.id } })).toBe(8)
    service.clock.set(midnight + 1_000)

    expect([await sweep(organization.id), await sweep(organization.id)]).toEqual([3, 0])
    const left = await db.invite.findMany({ where: { organizationId: organization.id }, select: { id: true } })
    expect(left.map(({ id }) => id).sort()).toEqual(kept.sort())
    expect(await db.invite.count({ where: { id: other.id } })).toBe(1)
    const erasedEvents = await db.event.findMany({ where: { organizationId: organization.id, type: 'invite.erased' } })
    expect(erasedEvents.map(({ inviteId }) => inviteId).sort()).toEqual(due.sort())
    expect(erasedEvents.map(({ actorType }) => actorType)).toEqual(['system', 'system', 'system'])
    const [entry] = await db.auditEntry.findMany({ where: { organizationId: organization.id, action: 'erased_ended_invites' } })
    expect(entry).toMatchObject({ actorKind: 'system', details: { completed: 2, expired: 0, revoked: 1 } })
    const night = await db.erasure.findFirstOrThrow({ where: { organizationId: organization.id, id: entry!.targetId! } })
    expect(night).toMatchObject({ subject: 'retention', counts: { invites: 3, completed: 2, revoked: 1 }, actorKind: 'system' })
    expect(night.finishedAt).toEqual(service.clock.now())
    expect((await service.v1(organization.key).get('/assessments')).body.assessments[0].inviteCount).toBe(7)

    // Once a day.
    await of({ status: 'completed', completedAt: at(50) })
    expect(await eraseDueInvites(service.system)).toBe(0)
    const owner = await signInAs(service, organization.id, ['admin'], ['owner'])
    expect((await owner.get(`${owner.home}settings/erasures`)).text).toContain('Ended invites')
    const receipt = await owner.get(`${owner.home}settings/erasures/${night.id}`)
    expect(receipt.text).toContain('Invites: completed')
    expect((await owner.get(`${owner.home}settings/audit-log`)).text).toContain('erased ended invites')
  })

  itSlow('erases invites with their files before their rows, and continues after the store stopped it', async () => {
    const made = await makeErasable(service, { others: 2 })
    const organizationId = made.organization.id
    const ctx = asEraser(service, made.organization)
    // All of them ended long ago, in one of the three ways. The suppression of the address doesn't belong to an invite, so it stays.
    const ended = { completedAt: daysAgo(50), expiresAt: daysAgo(50), revokedAt: daysAgo(50) }
    await db.invite.updateMany({ where: { id: made.ids[0]! }, data: { status: 'completed', ...ended } })
    await db.invite.updateMany({ where: { id: made.ids[1]! }, data: { status: 'revoked', ...ended } })
    await db.invite.updateMany({ where: { id: { in: made.ids.slice(2) } }, data: { status: 'expired', ...ended } })
    await set(ctx, { completed: 30, expired: 30, revoked: 30 })
    await startRulesNow(organizationId)
    const stored = await listStore(service)
    const media = { ...ctx.deps.media, deletePrefix: () => Promise.reject(new Error('the store is away')) }
    const away = { ...service.system, deps: { ...service.system.deps, media } }
    await expect(eraseDueInvites(away)).rejects.toThrow('could not be worked on')
    const submissions = { inviteId: { in: made.ids } }
    expect(await db.invite.count({ where: { id: made.ids[0]! } })).toBe(1)
    expect(await listStore(service)).toEqual(stored)
    expect(await db.auditEntry.count({ where: { organizationId, action: 'erased_ended_invites' } })).toBe(0)

    // Invites that could not be erased are retried later, and don't delay others.
    expect(await eraseDueInvites(service.system)).toBe(0)
    const later = new Date(service.deps.clock().getTime() + 600_000)
    await eraseDueInvites({ ...service.system, deps: { ...service.deps, clock: () => later } })
    expect([
      await db.invite.count({ where: { id: { in: made.ids } } }),
      await db.submission.count({ where: submissions }),
    ]).toEqual([0, 0])
    const theirs = made.media.filter(({ submissionId }) => submissionId)
    expect(theirs.length).toBeGreaterThan(3)
    expect((await listStore(service)).length).toBeLessThan(stored.length)
    const dump = [...(await dumpRows(service))].flatMap(([name, rows]) =>
      rows.filter((row) => row.includes(organizationId) && hitsIn(row).length > 0).map(() => name),
    )
    // These name the person by address only, and don't belong to the invites: a filter, a form, a member's text.
    expect([...new Set(dump)].sort()).toEqual([
      'public.audit_entries',
      'public.idempotency_records',
      'public.saved_filters',
      'public.saved_forms',
      'public.suppressions',
    ])
    const named = await db.idempotencyRecord.findMany({ where: { organizationId, body: { not: null } } })
    expect(named.filter(({ body }) => made.ids.some((id) => body!.includes(id)))).toEqual([])
    const night = await db.erasure.findFirstOrThrow({ where: { organizationId, subject: 'retention' } })
    expect(night.counts).toMatchObject({ invites: 4, submissions: 2, completed: 1, expired: 2, revoked: 1 })
    expect(night.counts).toMatchObject({
      media: expect.any(Number),
      webhookAnswers: expect.any(Number),
      requestRecords: expect.any(Number),
    })
    const events = await db.event.findMany({ where: { organizationId, inviteId: { in: made.ids } } })
    expect(events.filter(({ data }) => hitsIn(JSON.stringify(data)).length > 0)).toEqual([])
    expect(events.filter(({ type }) => type === 'invite.erased')).toHaveLength(4)
  })
})

it('erases nothing while the organization is suspended, and restarts the period once its erasure is canceled', async () => {
  const organization = await make.organization()
  const ctx = asEraser(service, organization)
  const invite = await make.invite(await make.assessment(organization.id), { status: 'completed', completedAt: daysAgo(40) })
  const isThere = async () => (await db.invite.count({ where: { id: invite.id } })) > 0
  await set(ctx, { completed: 30 })
  await suspendOrganization(ctx, { name: organization.name })
  await sweep(organization.id)
  expect(await isThere()).toBe(true)
  await liftSuspension(ctx)
  await eraseDueInvites(service.system)
  expect(await isThere()).toBe(true)
  const { beginsAt } = await readRetention(ctx)
  expect(beginsAt!.getTime() - service.clock.now().getTime()).toBeGreaterThan(DAY_MS)
  await eraseDueInvites({ ...service.system, deps: { ...service.deps, clock: () => beginsAt! } })
  expect(await isThere()).toBe(false)
})

describe('an invite whose files are being deleted', () => {
  /** Creates a due invite with a recording. `sweepWith` runs the sweep, and runs `work` each time the sweep deletes files. */
  async function startDue() {
    const organization = await make.organization()
    const ctx = asEraser(service, organization)
    const assessment = await make.assessment(organization.id)
    const recipientEmail = `${make.unique('due').replace(' ', '')}@example.com`
    const data = { recipientEmail, status: 'expired', expiresAt: daysAgo(40) } as const
    const { id } = await make.invite(assessment, data)
    const submissionId = await submitRows(
      service,
      { organizationId: organization.id, inviteId: id, assessmentId: assessment.id },
      'a',
    )
    await set(ctx, { expired: 30 })
    await startRulesNow(organization.id)
    const isThere = async () => (await db.invite.count({ where: { id } })) > 0
    const sweepWith = (work: () => Promise<unknown>) => {
      const deletePrefix = async (prefix: string) => {
        await work()
        await service.deps.media.deletePrefix(prefix)
      }
      return eraseDueInvites({ ...service.system, deps: { ...service.deps, media: { ...service.deps.media, deletePrefix } } })
    }
    return { ctx, id, submissionId, recipientEmail, isThere, sweepWith }
  }
  const refuse = () => Promise.reject(new Error('the store is away'))

  it("can't be reactivated, but keeps its files if reactivated just before", async () => {
    const { ctx, id, isThere, sweepWith } = await startDue()
    const refused = { kind: 'move_not_allowed', issues: [expect.objectContaining({ value: 'being erased' })] }
    await sweepWith(() => expect(reactivateInvite(ctx, id, {})).rejects.toMatchObject(refused))
    expect(await isThere()).toBe(false)

    const before = await startDue()
    const night = await inTransaction(before.ctx, async (inside) => {
      await reactivateInvite(inside, before.id, {})
      const begun = eraseDueInvites(service.system)
      await waitUntil('the night to wait', async () => {
        const [waiting] = await db.$queryRaw<[{ n: number }]>`
          SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
        return waiting.n > 0 || undefined
      })
      return { begun }
    })
    await night.begun
    expect(await before.isThere()).toBe(true)
    expect(await db.mediaFile.count({ where: { submissionId: before.submissionId, state: { not: 'deleted' } } })).toBe(1)
  })

  it('is deleted from existing archives, and left out of new ones', async () => {
    const { ctx, recipientEmail, sweepWith } = await startDue()
    const organizationId = ctx.organization.id
    await make.invite(await make.assessment(organizationId), { recipientEmail })
    const invitesInCopy = async () => {
      const { id } = await requestCandidateArchive(ctx, { address: recipientEmail.toUpperCase() })
      return Object.keys(await readArchive(ctx, id)).filter((name) => name.endsWith('invite.json')).length
    }
    expect(await invitesInCopy()).toBe(2)
    await expect(sweepWith(refuse)).rejects.toThrow('could not be worked on')
    expect(await invitesInCopy()).toBe(1)
    const keys = (await db.archive.findMany({ where: { organizationId } })).map(({ key }) => key!)
    const files = async () => (await listStore(service)).filter((name) => keys.some((key) => name.startsWith(key))).length
    expect([keys.length, await files()]).toEqual([2, 2])
    expect(await sweep(organizationId)).toBe(1)
    expect([await db.archive.count({ where: { organizationId } }), await files()]).toEqual([0, 0])
  })

  it('is erased even if its period is extended or its candidate is erased meanwhile', async () => {
    const longer = await startDue()
    const asked = await startDue()
    await expect(asked.sweepWith(refuse)).rejects.toThrow('could not be worked on')
    expect([await longer.isThere(), await asked.isThere()]).toEqual([true, true])

    await set(longer.ctx, {})
    const { id } = await requestErasure(asked.ctx, { address: asked.recipientEmail })
    await continueErasure(service.system, { organizationId: asked.ctx.organization.id, erasureId: id })
    expect(await asked.isThere()).toBe(false)
    expect(await getErasure(asked.ctx, id)).toMatchObject({
      finishedAt: expect.any(Date),
      counts: { invites: 1, submissions: 1 },
    })
    await startRulesNow(longer.ctx.organization.id)
    await eraseDueInvites(service.system)
    expect(await longer.isThere()).toBe(false)
  })
})

it('applies a retention change made during a run', async () => {
  const organization = await make.organization()
  const ctx = asEraser(service, organization)
  const assessment = await make.assessment(organization.id)
  const completed = await make.invite(assessment, { status: 'completed', completedAt: daysAgo(40) })
  const expired = await make.invite(assessment, { status: 'expired', expiresAt: daysAgo(40) })
  await set(ctx, { completed: 30, expired: 30 })
  await startRulesNow(organization.id)
  const { queue } = service.deps
  const setBetween = async (...given: Parameters<typeof queue.purgeMails>) => {
    await set(ctx, { completed: 30 })
    return queue.purgeMails(...given)
  }
  const mail = {
    id: service.deps.newId(),
    organizationId: organization.id,
    inviteId: completed.id,
    linkVersion: 1,
    state: 'sent',
  } as const
  await db.inviteEmail.create({ data: { ...mail, createdAt: daysAgo(0), updatedAt: daysAgo(0) } })
  const between = { ...service.deps, queue: { ...queue, purgeMails: setBetween } }
  await eraseDueInvites({ ...service.system, deps: between })
  expect(await db.invite.count({ where: { id: completed.id } })).toBe(0)
  expect(await db.invite.count({ where: { id: expired.id } })).toBe(1)
})

it('starts a twice-shortened period by the last change, and asks for confirmation again if it was withdrawn', async () => {
  const organization = await make.organization()
  const ctx = asEraser(service, organization)
  const invite = await make.invite(await make.assessment(organization.id), { status: 'completed', completedAt: daysAgo(40) })
  const isThere = async () => (await db.invite.count({ where: { id: invite.id } })) > 0
  const at = (days: number): Context => ({ ...ctx, deps: { ...ctx.deps, clock: () => daysAfter(service.clock.now(), days) } })
  const sweepAt = (days: number) => eraseDueInvites({ ...service.system, deps: at(days).deps })
  await set(ctx, { completed: 60 })
  await set(at(1), { completed: 30 })
  const { beginsAt } = await readRetention(ctx)
  expect(beginsAt!.getTime()).toBeGreaterThan(daysAfter(service.clock.now(), 2).getTime())
  await sweepAt(2)
  expect(await isThere()).toBe(true)
  await changeRetention(at(2), { kept: NEVER, isSure: false })
  await sweepAt(5)
  expect(await isThere()).toBe(true)
  const again = changeRetention(at(5), { kept: { ...NEVER, completed: 30 }, isSure: false })
  await expect(again).rejects.toMatchObject({ issues: [{ field: 'sure', rule: 'required' }] })
  await set(at(5), { completed: 30 })
  await sweepAt(6)
  expect(await isThere()).toBe(true)
  await sweepAt(8)
  expect(await isThere()).toBe(false)
})

itSlow('finds due invites in index order, however many invites there are', async () => {
  const organization = await make.organization()
  const assessment = await make.assessment(organization.id)
  const { metadata: _, id: __, ...like } = await make.invite(assessment)
  const ended = { completedAt: daysAgo(10), revokedAt: daysAgo(10), expiresAt: daysAgo(10) }
  for (const status of [...RETENTION_RULES, 'pending'] as const)
    await db.invite.createMany({
      data: Array.from({ length: 1_000 }, (_, i) => ({
        ...like,
        ...ended,
        id: service.deps.newId(),
        status,
        recipientEmail: `${status}${i}@example.com`,
      })),
    })
  const client = new pg.Client({ connectionString: service.databaseUrl })
  await client.connect()
  await client.query('ANALYZE invites')
  const day = service.clock.now()
  for (const rule of RETENTION_RULES)
    for (const mode of MODES) {
      const ctx = asEraser(service, organization)
      const { text, values } = compile(dueInvites(ctx, { mode, rule, days: 30, day }).limit(100).select('invites.id'))
      const { rows } = await client.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, values)
      const plan = rows[0]['QUERY PLAN'][0].Plan
      expect(JSON.stringify(plan)).toMatch(/"Index Name":"invites_(completed_at|revoked_at|status_expires_at)_idx"/)
      expect([rule, mode, plan['Shared Hit Blocks'] + plan['Shared Read Blocks'] < 15]).toEqual([rule, mode, true])
    }
  await client.end()
})

// Runs last, because so many rows would change the other tests' query plans.
it('counts at most 10,000 invites of a rule for the page, and says so', async () => {
  const organization = await make.organization()
  const { id } = await make.invite(await make.assessment(organization.id), { status: 'completed', completedAt: daysAgo(90) })
  for (let from = 0; from < 12_000; from += 2_000)
    await db.$executeRaw`
      INSERT INTO invites SELECT copy.* FROM invites AS row, generate_series(1, 2000) AS n, LATERAL jsonb_populate_record(row,
        jsonb_build_object('id', gen_random_uuid(), 'recipient_email', ${from} + n || '@example.com')) AS copy
      WHERE row.id = ${id}::uuid`
  const owner = await signInAs(service, organization.id, ['admin'], ['owner'])
  const asked = await owner.post(`${owner.home}settings/retention`, { completed: '60', expired: '', revoked: '' })
  expect(asked.text).toContain('erases more than 10,000 invites (more than 10,000 completed)')
  const { due } = await previewRetention(asEraser(service, organization), { ...NEVER, completed: 60 })
  expect(due).toEqual({ completed: 10_001, expired: 0, revoked: 0 })
})

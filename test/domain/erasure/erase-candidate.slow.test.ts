import { beforeAll, describe, expect, it } from 'vitest'
import { type Context, inMode } from '../../../src/domain/context.ts'
import { continueErasure } from '../../../src/domain/erasure/continue-erasure.ts'
import { ERASURE_STEPS, type Erasure, getErasure } from '../../../src/domain/erasure/erasures.ts'
import { findTraces } from '../../../src/domain/erasure/find-traces.ts'
import { requestErasure } from '../../../src/domain/erasure/request-erasure.ts'
import { findSuppressionReason } from '../../../src/domain/invites/suppressions.ts'
import { readReport } from '../../../src/domain/submissions/grading/report.ts'
import { eraseThroughStops, STOPS } from '../../support/erase-through-stops.ts'
import { ADDRESS, asEraser, dumpRows, hitsIn, idsOf, linesOf, listStore, makeErasable } from '../../support/erasing.ts'
import { readFeed } from '../../support/events.ts'
import { startServiceForFile } from '../../support/service.ts'
import { waitUntil } from '../../support/wait-until.ts'
import { TO_LOOPBACK } from '../../support/webhooks.ts'

const service = await startServiceForFile(TO_LOOPBACK)

/** Waits for the service's own worker. */
const waitForReceipt = (ctx: Context, id: string): Promise<Erasure> =>
  waitUntil('the receipt', async () => {
    const erasure = await getErasure(ctx, id)
    return erasure.finishedAt ? erasure : undefined
  })

/** Tables that change by themselves, such as counters. They are checked separately. */
const MOVING =
  /^(pgboss|public\.(event_sequence|audit_sequence|webhook_fanout|ats_fanout|sweep_parts|\w+_invite_counts|organization_media_bytes|webhook_endpoints|api_keys|erasures|erased_\w+|deleted_media_files))/

describe('an erased candidate', () => {
  let made: Awaited<ReturnType<typeof makeErasable>>
  let before: Map<string, string[]>
  let after: Map<string, string[]>
  let stored: { before: string[]; after: string[] }
  let theirs: string[]
  let erasure: Erasure
  let counts: { before: unknown; after: unknown }
  const logged: string[] = []
  beforeAll(async () => {
    made = await makeErasable(service, { others: 19 })
    const ctx = asEraser(service, made.organization)
    const test: Context = inMode(ctx, 'test')
    const readCounts = async () => ({
      assessments: (await made.v1.get('/assessments')).body.assessments.map((one: { id: string; inviteCount: number }) => [
        one.id,
        one.inviteCount,
      ]),
      reports: await Promise.all(made.assessments.map(({ id }) => readReport(test, id))),
      days: await service.db.organizationDailyInviteCount.groupBy({
        by: ['mode', 'day'],
        where: { organizationId: made.organization.id },
        _sum: { invited: true, completed: true },
        orderBy: { mode: 'asc' },
      }),
    })
    theirs = await idsOf(service, made.ids)
    before = await dumpRows(service)
    stored = { before: await listStore(service), after: [] }
    counts = { before: await readCounts(), after: null }
    const from = service.logLines.length
    const asked = await requestErasure(ctx, { address: ` ${ADDRESS.toUpperCase()} ` })
    erasure = await waitForReceipt(ctx, asked.id)
    await waitUntil(
      'the last events to be delivered',
      async () => (await service.db.webhookDelivery.count({ where: { state: 'waiting' } })) === 0 || undefined,
    )
    logged.push(...service.logLines.slice(from))
    after = await dumpRows(service)
    stored.after = await listStore(service)
    counts.after = await readCounts()
  })

  it('was present in many tables before the erasure', () => {
    const tables = [...before].filter(([, rows]) => rows.some((row) => hitsIn(row).length > 0)).map(([name]) => name)
    expect(tables).toEqual(
      expect.arrayContaining([
        'public.events',
        'public.grades',
        'public.idempotency_records',
        'public.invite_batch_rows',
        'public.invite_emails',
        'public.invites',
        'public.releases',
        'public.suppressions',
        'public.answer_attempts',
        'public.webhook_attempts',
        'public.audit_entries',
        'public.mail_events',
        'public.saved_forms',
        'public.saved_filters',
      ]),
    )
  })

  it('is gone from every column of every table, from the store, and from lines logged afterwards', () => {
    const rows = [...after].flatMap(([name, all]) => all.map((row) => `${name} ${row}`))
    expect(rows.filter((row) => hitsIn(row).length > 0)).toEqual([])
    expect(logged.filter((line) => hitsIn(line).length > 0)).toEqual([])
    const keys = made.media.filter(({ submissionId }) => theirs.includes(submissionId)).map(({ key }) => key)
    expect(keys.length).toBeGreaterThan(3)
    expect(stored.after).toEqual(stored.before.filter((file) => !keys.some((key) => file.startsWith(key))))
    expect(stored.after.length).toBeGreaterThan(3)
  })

  it("leaves everybody else's rows unchanged, byte for byte", () => {
    for (const [name, rows] of before) {
      if (MOVING.test(name)) continue
      const kept = new Set(after.get(name))
      const gone = rows.filter((row) => !kept.has(row))
      const ofOthers = gone.filter((row) => hitsIn(row).length === 0 && !theirs.some((id) => row.includes(id)))
      expect([name, ofOthers]).toEqual([name, []])
    }
  })

  it('leaves past counts unchanged', () => {
    expect(counts.after).toEqual(counts.before)
    expect(JSON.stringify(counts.before)).toContain('"results":2')
  })

  it('has one receipt, also in the log, that counts what was erased and names nobody', async () => {
    expect(erasure.counts).toMatchObject({ invites: 4, submissions: 2, listRows: 2, suppressions: 1 })
    expect(erasure.counts.media).toBeGreaterThan(3)
    expect(erasure.counts.webhookAnswers).toBeGreaterThan(5)
    expect(erasure.counts.requestRecords).toBeGreaterThan(5)
    expect(erasure.backupsUntil!.getTime() - erasure.finishedAt!.getTime()).toBe(30 * 86_400_000)
    const lines = await linesOf(service, erasure.id)
    expect(lines).toHaveLength(1)
    expect(hitsIn(lines[0]!)).toEqual([])
    expect(JSON.parse(lines[0]!)).toMatchObject({ id: erasure.id, counts: erasure.counts, actor: { kind: 'operator', id: null } })
    expect(await service.db.erasure.findFirstOrThrow({ where: { id: erasure.id } })).toMatchObject({ encryptedAddress: null })
  })

  it('is 404 for test and live keys, and missing from all lists', async () => {
    const { organization, ids, v1, live } = made
    const alternate = service.alternate(organization.key)
    for (const id of ids)
      for (const answer of [
        await v1.get(`/invites/${id}`),
        await live.get(`/invites/${id}`),
        await v1.get(`/invites/${id}/submission`),
      ])
        expect([answer.status, answer.headers['x-error-code']]).toEqual([404, 'invite_not_found'])
    const { body: unknown } = await alternate.get('/organization-users/')
    expect(hitsIn(JSON.stringify(unknown))).toEqual([])
    for (const path of [
      '/invites?limit=100',
      `/invites?recipientEmail=${encodeURIComponent(ADDRESS)}`,
      '/submissions',
      '/suppressions',
    ]) {
      const { status, text } = await v1.get(path)
      expect([path, status, hitsIn(text)]).toEqual([path, 200, []])
      expect(ids.filter((id) => text.includes(id))).toEqual([])
    }
    expect((await v1.get('/invites')).body.pagination.total).toBe(21)
  })

  it('leaves no gap in the feed, and one erased event for each invite', async () => {
    const { organization, ids, receiver } = made
    const { events } = await readFeed(service, organization.key)
    const own = events.filter(({ data }) => ids.includes(data.inviteId))
    const erased = own.filter(({ type }) => type === 'invite.erased')
    expect(erased.map(({ data }) => data)).toEqual(expect.arrayContaining(ids.slice(0, 3).map((inviteId) => ({ inviteId }))))
    expect(own.filter(({ data }) => 'externalId' in data || 'metadata' in data)).toEqual([])
    expect(events.filter(({ data }) => 'externalId' in data).length).toBeGreaterThan(10)
    const deliveredIds = new Set(receiver.received.map(({ id }) => id))
    expect(events.filter(({ id }) => !deliveredIds.has(id))).toEqual([])
    // Erasing an unfinished invite revokes it first.
    expect(own.filter(({ type }) => type === 'invite.revoked').length).toBeGreaterThanOrEqual(2)
  })

  it('returns 404 for a retried request about them, and creates no second invite', async () => {
    const { organization, assessments } = made
    const records = await service.db.idempotencyRecord.findMany({ where: { organizationId: organization.id, body: null } })
    expect(records.length).toBeGreaterThan(4)
    const sent = { assessmentId: assessments[0]!.id, recipientEmail: 'somebody@keep-me.example' }
    const send = () => made.v1.post('/invites').set('Idempotency-Key', 'forgotten').send(sent)
    expect((await send()).status).toBe(201)
    const where = { organizationId_key: { organizationId: organization.id, key: 'test\nforgotten' } }
    await service.db.idempotencyRecord.update({ where, data: { body: null } })
    const again = await send()
    expect([again.status, again.headers['x-error-code']]).toEqual([404, 'invite_not_found'])
    expect(
      await service.db.invite.count({ where: { organizationId: organization.id, recipientEmail: sent.recipientEmail } }),
    ).toBe(1)
  })

  it('stays suppressed, even if invited again', async () => {
    const { organization, suppressed, invite } = made
    const found = await suppressed(ADDRESS)
    expect(found).toMatchObject([{ reason: 'bounce', address: expect.stringMatching(/^erased:/), emailId: null }])
    const id = await invite(ADDRESS, 0)
    const why = await findSuppressionReason(service.system, {
      organizationId: organization.id,
      kind: 'invitation',
      invite: { mode: 'test', recipientEmail: ADDRESS },
    })
    expect(why).toContain('there is no such mailbox')
    // Another erasure keeps the existing suppression.
    const ctx = asEraser(service, organization)
    const again = await requestErasure(ctx, { address: ADDRESS })
    expect((await waitForReceipt(ctx, again.id)).counts).toMatchObject({ invites: 1, suppressions: 0 })
    expect(await service.db.invite.count({ where: { id } })).toBe(0)
    expect(await suppressed(ADDRESS)).toHaveLength(1)
  })
})

it('previews the data to erase, and nothing from other organizations', async () => {
  const { organization } = await makeErasable(service, { others: 1 })
  const ctx = asEraser(service, organization)
  expect(await findTraces(ctx, ADDRESS)).toMatchObject({ invites: 4, open: 3, submissions: 2, listRows: 2, suppressions: 1 })
  const other = asEraser(service, await service.make.organization())
  const nothing = { invites: 0, open: 0, submissions: 0, media: 0, mails: 0, listRows: 0, suppressions: 0 }
  expect(await findTraces(other, ADDRESS)).toEqual(nothing)
  const asked = await requestErasure(other, { address: ADDRESS })
  const { counts } = await waitForReceipt(other, asked.id)
  expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(0)
  expect(await findTraces(ctx, ADDRESS)).toMatchObject({ invites: 4 })
})

it("finishes a candidate's erasure once with a correct receipt, even if each step is stopped repeatedly", async () => {
  const { organization, ids, media } = await makeErasable(service, { others: 1 })
  const ctx = asEraser(service, organization)
  const { id, times, failures } = await eraseThroughStops(service, ctx, ERASURE_STEPS, (alone) =>
    requestErasure(alone, { address: ADDRESS }),
  )
  const often = (['lists', 'media', 'invites', 'events', 'traces', 'suppressions', 'receipt'] as const).map(
    (step) => times[step]!,
  )
  expect(Math.min(...often)).toBeGreaterThan(STOPS)
  expect(failures).toEqual(['stopped', 'store'])
  const { counts } = await getErasure(ctx, id)
  const theirs = media.filter(({ submissionId }) => submissionId)
  expect(theirs.length).toBeGreaterThan(0)
  expect(counts).toMatchObject({ invites: 4, submissions: 2, listRows: 2, suppressions: 1 })
  expect(await service.db.invite.count({ where: { id: { in: ids } } })).toBe(0)
  const events = await service.db.event.findMany({ where: { inviteId: { in: ids }, type: 'invite.erased' } })
  expect(events).toHaveLength(4)
  expect(await linesOf(service, id)).toHaveLength(1)
  const rows = [...(await dumpRows(service))].flatMap(([, all]) => all.filter((row) => row.includes(organization.id)))
  expect(rows.filter((row) => hitsIn(row).length > 0)).toEqual([])
})

it('creates one erasure for concurrent and repeated requests', async () => {
  const { organization } = await makeErasable(service, { others: 1 })
  const ctx = asEraser(service, organization)
  const asked = await Promise.all([1, 2, 3].map(() => requestErasure(ctx, { address: ADDRESS })))
  const ids = new Set(asked.map(({ id }) => id))
  const now = service.clock.now()
  const outage = { about: 'throttled', reason: `450 <${ADDRESS}>: later`, pauseSeconds: 60, nextProbeAt: now }
  await service.db.mailOutage.create({ data: { since: now, ...outage } })
  expect(ids.size).toBe(1)
  const which = { organizationId: organization.id, erasureId: asked[0]!.id }
  const ended = await Promise.allSettled([1, 2, 3].map(() => continueErasure(ctx, which)))
  expect(ended.filter(({ status }) => status === 'rejected')).toEqual([])
  expect((await service.db.mailOutage.findFirst())?.reason ?? '').toBe('')
  await service.db.mailOutage.deleteMany()
  expect((await getErasure(ctx, asked[0]!.id)).counts).toMatchObject({ invites: 4, submissions: 2, listRows: 2 })
  expect(ERASURE_STEPS.at(-1)).toBe((await getErasure(ctx, asked[0]!.id)).step)
})

it("writes the receipt's log line once, and without reading the log unless a process died after writing it", async () => {
  const organization = await service.make.organization()
  const ctx = asEraser(service, organization)
  const withoutWorker: Context = { ...ctx, deps: { ...ctx.deps, queue: { ...ctx.deps.queue, enqueueErasure: async () => {} } } }
  let reads = 0
  const erasureLog: Context['deps']['erasureLog'] = {
    append: ctx.deps.erasureLog.append,
    async read() {
      reads++
      return ctx.deps.erasureLog.read()
    },
  }
  const counted: Context = { ...ctx, deps: { ...ctx.deps, erasureLog } }
  const dying: Context = {
    ...ctx,
    deps: {
      ...ctx.deps,
      erasureLog: {
        ...erasureLog,
        async append(line) {
          await erasureLog.append(line)
          throw new Error('it dies here')
        },
      },
    },
  }
  const erase = async (once: Context, address: string) => {
    const { id } = await requestErasure(withoutWorker, { address })
    const which = { organizationId: organization.id, erasureId: id }
    return { id, first: await Promise.allSettled([continueErasure(once, which)]), again: () => continueErasure(counted, which) }
  }
  const smooth = await erase(counted, 'smooth@example.com')
  expect([smooth.first[0]!.status, reads]).toEqual(['fulfilled', 0])
  const rough = await erase(dying, 'rough@example.com')
  expect([rough.first[0]!.status, (await getErasure(ctx, rough.id)).finishedAt]).toEqual(['rejected', null])
  await rough.again()
  expect([(await getErasure(ctx, rough.id)).finishedAt, reads]).toEqual([expect.any(Date), 1])
  for (const { id } of [smooth, rough]) expect(await linesOf(service, id)).toHaveLength(1)
})

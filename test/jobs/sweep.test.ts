import { pino } from 'pino'
import { describe, expect, it, onTestFinished } from 'vitest'
import { deleteExpiredRows } from '../../src/domain/concurrency/expired-rows.ts'
import { SWEEP_PARTS } from '../../src/domain/ports/metrics.ts'
import { startQueue } from '../../src/jobs/queue.ts'
import { DAY_MS } from '../support/factories.ts'
import { runSweep } from '../support/run-sweep.ts'
import { startServiceForFile, startServiceForTest } from '../support/service.ts'
import { waitUntil } from '../support/wait-until.ts'

const service = await startServiceForFile()

/** Creates an organization with expired idempotency records. */
async function makeOldAnswers(count: number) {
  const { id: organizationId } = await service.make.organization()
  await service.db.$executeRaw`
    INSERT INTO idempotency_records (organization_id, key, fingerprint, status, body, created_at)
    SELECT ${organizationId}::uuid, 'key-' || n, '\\x00', 201, '{}', ${service.clock.now()} FROM generate_series(1, ${count}::int) n`
  service.clock.advance(DAY_MS)
  return { organizationId, count: () => service.db.idempotencyRecord.count({ where: { organizationId } }) }
}

/** Makes statements on the table fail under a condition, until the test ends. */
async function refuse(statement: string, table: string, condition = 'true'): Promise<void> {
  await service.db.$executeRawUnsafe(`CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN IF ${condition} THEN RAISE EXCEPTION 'refused'; END IF; RETURN NULL; END $$`)
  await service.db.$executeRawUnsafe(
    `CREATE TRIGGER refuse AFTER ${statement} ON ${table} REFERENCING OLD TABLE AS gone EXECUTE FUNCTION refuse()`,
  )
  onTestFinished(async () => void (await service.db.$executeRawUnsafe(`DROP TRIGGER refuse ON ${table}`)))
}

const readMetrics = async () => (await service.metrics.registry.metrics()).split('\n')

describe('the deletion of expired idempotency records', () => {
  it('removes any number of them in short statements', async () => {
    const { count } = await makeOldAnswers(25_000)
    // Fails large batches like a time limit, but independently of the machine's speed.
    await refuse('DELETE', 'idempotency_records', '(SELECT count(*) FROM gone) > 10000')
    await deleteExpiredRows(service.system, 'delete_expired_idempotency_records')
    expect(await count()).toBe(0)
  })

  it('skips one that a request is using', async () => {
    const { organizationId, count } = await makeOldAnswers(3)
    await service.db.$transaction(async (tx) => {
      await tx.$executeRaw`SELECT FROM idempotency_records WHERE organization_id = ${organizationId}::uuid AND key = 'key-2' FOR UPDATE`
      await deleteExpiredRows(service.system, 'delete_expired_idempotency_records')
      expect(await count()).toBe(1)
    })
    await deleteExpiredRows(service.system, 'delete_expired_idempotency_records')
    expect(await count()).toBe(0)
  })
})

it('exposes zero failures of each sweep part at first', async () => {
  const lines = await readMetrics()
  for (const part of ['expire_invites', 'delete_expired_idempotency_records', 'delete_expired_events'])
    expect(lines).toContain(`sweep_parts_total{part="${part}",outcome="failed"} 0`)
})

it('runs the other parts of a sweep when one fails, and reports that one in log and metrics', async () => {
  const { count } = await makeOldAnswers(1)
  const { id } = await service.make.organization()
  const expiresAt = new Date(service.clock.now().getTime() - DAY_MS)
  await service.make.invite(await service.make.assessment(id), { expiresAt })
  await refuse('UPDATE', 'invites')
  await runSweep(service)
  await waitUntil('the answers to be forgotten', async () => (await count()) === 0 || undefined)
  const line = await waitUntil('the part to fail', async () =>
    service.logLines.map((one) => JSON.parse(one)).find(({ part }) => part !== undefined),
  )
  expect(line).toMatchObject({ level: 50, part: 'expire_invites', msg: 'a part of the sweep failed' })
  expect(line.err.message).toContain('refused')
  const metrics = await readMetrics()
  expect(metrics).toContainEqual(expect.stringMatching(/^sweep_parts_total\{part="expire_invites",outcome="failed"\} [1-9]/))
  expect(metrics).toContain('sweep_parts_total{part="delete_expired_idempotency_records",outcome="failed"} 0')
})

describe('a hanging sweep part', () => {
  const AGE = /^sweep_part_age_seconds\{part="(\w+)"\} (\S+)$/

  /** Makes deletions in the media store wait until `release`. `seen` has the current and the highest number of concurrent deletions. */
  async function blockDeletions(of: typeof service) {
    const gate = Promise.withResolvers<void>()
    const { deletePrefix } = of.deps.media
    const seen = { now: 0, most: 0 }
    of.deps.media.deletePrefix = async (prefix) => {
      seen.most = Math.max(seen.most, ++seen.now)
      await gate.promise
      await deletePrefix(prefix)
      seen.now--
    }
    onTestFinished(() => gate.resolve())
    const deletedAt = new Date(of.clock.now().getTime() - DAY_MS)
    const id = of.deps.newId()
    await of.db.deletedMediaFile.create({ data: { id, key: `media/${id}/file`, deletedAt } })
    return { seen, release: gate.resolve }
  }

  it('delays no other part, runs only once at a time, and is the only one whose age grows in the metrics', async () => {
    const one = await startServiceForTest()
    const { seen, release } = await blockDeletions(one)
    await runSweep(one, ['delete_expired_media'])
    await waitUntil('the store to be asked', async () => seen.now || undefined)
    const boss = await startQueue(one.databaseUrl, pino({ level: 'silent' }), { works: false })
    onTestFinished(() => boss.stop())
    expect(await boss.send('sweep.delete_expired_media', {})).toBeNull()

    // Sets the last end of all parts to an hour ago. The other parts run again and finish.
    await one.db.sweepPart.updateMany({ data: { endedAt: new Date(Date.now() - 3_600_000) } })
    one.clock.set(new Date())
    await runSweep(
      one,
      SWEEP_PARTS.filter((part) => part !== 'delete_expired_media'),
    )
    const old = await waitUntil('the others to end', async () => {
      const ages = (await one.metrics.registry.metrics()).split('\n').flatMap((line) => AGE.exec(line)?.slice(1) ?? [])
      const parts = ages.filter((_, i) => i % 2 === 0 && Number(ages[i + 1]) > 3_000)
      return ages.length === 2 * SWEEP_PARTS.length && parts.length <= 1 ? parts : undefined
    })
    expect(old).toEqual(['delete_expired_media'])
    release()
    await waitUntil('the part to end', async () => (await boss.send('sweep.delete_expired_media', {})) ?? undefined)
    expect(seen.most).toBe(1)
  })
})

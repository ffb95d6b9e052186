import { pino } from 'pino'
import { describe, expect, it, onTestFinished } from 'vitest'
import { forgetOldAnswers } from '../../src/domain/work/do-once.ts'
import { startQueue } from '../../src/jobs/queue.ts'
import { DAY_MS } from '../support/factories.ts'
import { startServiceForFile } from '../support/service.ts'
import { waitUntil } from '../support/wait-until.ts'

const service = await startServiceForFile()

/** An organization with so many answers, all of them too old for a retry. */
async function makeOldAnswers(count: number) {
  const { id: organizationId } = await service.make.organization()
  await service.db.$executeRaw`
    INSERT INTO idempotency_records (organization_id, key, fingerprint, status, body, created_at)
    SELECT ${organizationId}::uuid, 'key-' || n, '\\x00', 201, '{}', ${service.clock.now()} FROM generate_series(1, ${count}::int) n`
  service.clock.advance(DAY_MS)
  return { organizationId, count: () => service.db.idempotencyRecord.count({ where: { organizationId } }) }
}

/** Lets the statements fail that are like this, until the test ends. */
async function refuse(statement: string, table: string, condition = 'true'): Promise<void> {
  await service.db.$executeRawUnsafe(`CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN IF ${condition} THEN RAISE EXCEPTION 'refused'; END IF; RETURN NULL; END $$`)
  await service.db.$executeRawUnsafe(
    `CREATE TRIGGER refuse AFTER ${statement} ON ${table} REFERENCING OLD TABLE AS gone EXECUTE FUNCTION refuse()`,
  )
  onTestFinished(async () => void (await service.db.$executeRawUnsafe(`DROP TRIGGER refuse ON ${table}`)))
}

async function sweep(): Promise<void> {
  const boss = await startQueue(service.databaseUrl, pino({ level: 'silent' }), { works: false })
  await boss.send('sweep', {})
  await boss.stop()
}

const readMetrics = async () => (await service.metrics.registry.metrics()).split('\n')

describe('old answers', () => {
  it('are forgotten however many have piled up, in statements that each have time enough', async () => {
    const { count } = await makeOldAnswers(25_000)
    // In place of the time limit, which what a machine does in it would decide.
    await refuse('DELETE', 'idempotency_records', '(SELECT count(*) FROM gone) > 10000')
    await forgetOldAnswers(service.system)
    expect(await count()).toBe(0)
  })

  it('are forgotten but for the one that a request is using', async () => {
    const { organizationId, count } = await makeOldAnswers(3)
    await service.db.$transaction(async (tx) => {
      await tx.$executeRaw`SELECT FROM idempotency_records WHERE organization_id = ${organizationId}::uuid AND key = 'key-2' FOR UPDATE`
      await forgetOldAnswers(service.system)
      expect(await count()).toBe(1)
    })
    await forgetOldAnswers(service.system)
    expect(await count()).toBe(0)
  })
})

it('says of each part of the sweep that it has not failed yet', async () => {
  const lines = await readMetrics()
  for (const part of ['expire_invites', 'forget_answers', 'forget_events'])
    expect(lines).toContain(`sweep_parts_total{part="${part}",outcome="failed"} 0`)
})

it('does the other parts of a sweep when one fails, and says in log and metrics which that is', async () => {
  const { count } = await makeOldAnswers(1)
  const { id } = await service.make.organization()
  const expiresAt = new Date(service.clock.now().getTime() - DAY_MS)
  await service.make.invite(await service.make.assessment(id), { expiresAt })
  await refuse('UPDATE', 'invites')
  await sweep()
  await waitUntil('the answers to be forgotten', async () => (await count()) === 0 || undefined)
  const lines = service.logLines.map((line) => JSON.parse(line)).filter(({ part }) => part !== undefined)
  expect(lines[0]).toMatchObject({ level: 50, part: 'expire_invites', msg: 'a part of the sweep failed' })
  expect(lines[0].err.message).toContain('refused')
  const metrics = await readMetrics()
  expect(metrics).toContainEqual(expect.stringMatching(/^sweep_parts_total\{part="expire_invites",outcome="failed"\} [1-9]/))
  expect(metrics).toContain('sweep_parts_total{part="forget_answers",outcome="failed"} 0')
})

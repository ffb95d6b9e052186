import { expect, it, onTestFinished, vi } from 'vitest'
import { inviteEvents } from '../../src/domain/events/event.ts'
import { recordEvents } from '../../src/domain/events/record-events.ts'
import { sequenceEvents } from '../../src/domain/events/sequence-events.ts'
import { inTransaction } from '../../src/domain/transaction.ts'
import { createEventSequencer } from '../../src/jobs/event-sequencer.ts'
import { waitForNumbering } from '../support/events.ts'
import { openTestDatabase } from '../support/processes.ts'
import { type Service, startServiceForTest } from '../support/service.ts'
import { PATIENT, waitUntil } from '../support/wait-until.ts'

const makeInvite = async ({ make }: Pick<Service, 'make'>) => make.invite(await make.assessment((await make.organization()).id))

const record = async ({ system, make }: Pick<Service, 'system' | 'make'>, count = 1) => {
  const invite = await makeInvite({ make })
  await inTransaction(system, (ctx) =>
    recordEvents(
      ctx,
      Array.from({ length: count }, () => inviteEvents.resent(invite)),
    ),
  )
}

const failures = async ({ metrics }: Service) =>
  Number(/^event_sequence_failures_total (\d+)$/m.exec(await metrics.registry.metrics())![1])

it('sequences thousands of events in insertion order without a gap, and counts them', async () => {
  const service = await startServiceForTest()
  await record(service, 5_001)
  await waitForNumbering(service)
  const events = await service.db.event.findMany({ orderBy: { sequence: 'asc' }, select: { position: true } })
  expect(events.map(({ position }) => Number(position))).toEqual(events.map((_, i) => i + 1))
  expect(service.deps.events.head()).toBeLessThanOrEqual(5_001n)
  // Events are counted after the commit that assigns their positions.
  await vi.waitFor(async () => expect(await service.metrics.registry.metrics()).toMatch(/^events_numbered_total 5001$/m), PATIENT)
})

it('notifies followers of new events, even if another process has sequenced them', async () => {
  const service = await startServiceForTest()
  const heads: bigint[] = []
  service.sequencer.onNewHead((head) => void heads.push(head))
  await record(service)
  await waitUntil('the first event', () => heads.at(-1) === 1n || undefined)
  await service.db.$executeRaw`UPDATE event_sequence SET position = 7` // as if another process had sequenced them
  await waitUntil('the others', () => heads.at(-1) === 7n || undefined)
  expect(heads).toEqual([1n, 7n])
})

it('logs a sequencing failure once, counts each failure, and recovers by itself', async () => {
  const service = await startServiceForTest()
  await service.db.$executeRaw`ALTER TABLE event_sequence RENAME TO hidden`
  await waitUntil('two failures', async () => (await failures(service)) >= 2 || undefined)
  await record(service)
  await service.db.$executeRaw`ALTER TABLE hidden RENAME TO event_sequence`
  await waitForNumbering(service)
  expect(service.logLines.filter((line) => line.includes('events cannot be numbered'))).toHaveLength(1)
})

/** Opens a database without a running service. */
async function openDatabase() {
  const { db, make, system } = await openTestDatabase()
  onTestFinished(() => db.$disconnect())
  const numbering = createEventSequencer()
  const metrics = { eventsNumbered: () => {}, numberingFailed: () => {} }
  const deps = { ...system.deps, events: numbering, metrics } as unknown as Service['deps']
  return { db, make, system: { ...system, deps }, numbering }
}

it('sequences all committed events before it stops', async () => {
  const { db, numbering, ...service } = await openDatabase()
  await numbering.start(service.system)
  await record(service)
  await numbering.stop()
  const [event] = await db.event.findMany({ select: { position: true } })
  expect(event).toEqual({ position: 1n })
})

it("doesn't wait for a transaction that deletes an organization, and leaves no gap for its events", async () => {
  const { db, ...service } = await openDatabase()
  await record(service)
  const { organizationId } = await db.event.findFirstOrThrow({ select: { organizationId: true } })
  await record(service)
  await db.$transaction(async (tx) => {
    await tx.organization.delete({ where: { id: organizationId } })
    expect(await sequenceEvents(service.system)).toBe(1n)
  })
  await record(service)
  expect(await sequenceEvents(service.system)).toBe(2n)
  const events = await db.event.findMany({ orderBy: { sequence: 'asc' }, select: { position: true } })
  expect(events).toEqual([{ position: 1n }, { position: 2n }])
})

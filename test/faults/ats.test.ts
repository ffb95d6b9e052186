import { expect, it, onTestFinished } from 'vitest'
import { generateAtsKey, saveAtsApiKey } from '../../src/domain/ats/keys.ts'
import { type Context, enterOrganization } from '../../src/domain/context.ts'
import { createAshby, listenAsAshby } from '../support/ats/ashby.ts'
import { TO_FAKES } from '../support/ats/connect.ts'
import { openTestDatabase, startProcess } from '../support/processes.ts'
import { answerWith } from '../support/receiver.ts'
import { scaled } from '../support/scale.ts'
import { SECRET_KEY } from '../support/service.ts'
import { waitUntil } from '../support/wait-until.ts'

/** Reports of a killed process are repeated after its lease of 20 s. A busy machine may take longer. */
const RECOVERY_MS = 300_000
const ORDERS = 5
const THEIR_KEY = 'a key of Ashby'

/** Events of an invite, and the status that Ashby receives for each. */
const STEPS = [
  ['invite.accepted', 'Opened'],
  ['invite.started', 'Started'],
  ['invite.revoked', 'cancelled'],
  ['invite.reactivated', 'Invited'],
] as const

/** Creates an organization with orders from Ashby, and functions that add events to the orders and check their reports. */
async function start() {
  const host = await listenAsAshby()
  const customer = host.customer(THEIR_KEY)
  const { url, db, make, system } = await openTestDatabase()
  onTestFinished(() => db.$disconnect())
  const { id: organizationId, name } = await make.organization()
  const assessment = await make.assessment(organizationId)
  await make.question(assessment)
  const deps = { ...system.deps, secretKeys: [SECRET_KEY], ats: { ashby: { url: host.url }, callbackHosts: new Set<string>() } }
  const ctx: Context = enterOrganization(
    { ...system, deps, actor: { kind: 'operator' } },
    { id: organizationId, name, tier: 'standard' },
    'live',
  )
  const key = await generateAtsKey(ctx, 'ashby', 'live')
  await saveAtsApiKey(ctx, 'ashby', 'live', THEIR_KEY)
  const launch = () => startProcess({ ...TO_FAKES, DATABASE_URL: url, ATS_ASHBY: host.url })
  const first = await launch()
  const ashby = createAshby({ url: first.url, key })
  const inviteIds: string[] = []
  for (let i = 0; i < ORDERS; i++) inviteIds.push((await ashby.start(assessment.id)).assessmentId)
  /** Adds the events of this many steps to each order. */
  const addEvents = async (steps: number) => {
    const own = { organizationId, mode: 'live', actorType: 'system' } as const
    for (const inviteId of inviteIds) {
      const types = Array.from({ length: steps }, (_, i) => STEPS[i % STEPS.length]![0])
      const data = { inviteId, status: 'pending' }
      const event = { ...own, inviteId, data, createdAt: new Date() }
      await db.event.createMany({ data: types.map((type) => ({ ...event, id: system.deps.newId(), type })) })
    }
  }
  const allReported = (count: number) =>
    waitUntil(
      'all events to be reported',
      async () => ((await db.atsReport.count({ where: { state: 'delivered' } })) === count ? true : undefined),
      RECOVERY_MS,
    )
  /** Statuses that Ashby received for an order, without immediate repetitions. */
  const statusesOf = (inviteId: string) => {
    const its = customer.updates.map(({ event }) => event).filter(({ assessment_id }) => assessment_id === inviteId)
    const distinct = its.filter(({ timestamp }, i) => timestamp !== its[i - 1]?.timestamp)
    return distinct.map(({ assessment_status, cancelled_reason }) => (cancelled_reason ? 'cancelled' : assessment_status.value))
  }
  return { ...customer, db, launch, first, inviteIds, addEvents, allReported, statusesOf }
}

it("loses no report over random kills, and sends an order's reports one at a time and in order", async () => {
  const kills = scaled(2, 20)
  const steps = scaled(24, 120)
  const reports = steps * ORDERS
  const underWay = new Map<string, number>()
  let overlaps = 0
  const { updates, behave, launch, first, inviteIds, addEvents, allReported, statusesOf } = await start()
  behave((response, { event }) => {
    const id = event.assessment_id
    if (underWay.get(id)) overlaps++
    underWay.set(id, 1)
    const leave = () => underWay.delete(id)
    response.once('close', leave) // also happens when the process is killed
    setTimeout(() => response.writeHead(200).end(), 20 + Math.random() * 50)
  })
  await addEvents(steps)
  let service = first
  for (let life = 1; life <= kills; life++) {
    const reached = updates.length + Math.max(1, Math.floor((reports - updates.length) / (kills + 1)))
    await waitUntil(`${reached} reports`, () => (updates.length >= reached ? true : undefined), RECOVERY_MS)
    service.kill('SIGKILL')
    await service.exited
    service = await launch()
  }
  await allReported(reports)
  const wanted = Array.from({ length: steps }, (_, i) => STEPS[i % STEPS.length]![1])
  const statuses = inviteIds.map(statusesOf)
  const lost = statuses.reduce((sum, its) => sum + steps - its.length, 0)
  const repeats = updates.length - reports
  process.stdout.write(`${reports} reports, ${kills} kills, ${lost} lost, ${repeats} repeated, ${overlaps} at once\n`)
  expect(statuses).toEqual(inviteIds.map(() => wanted))
  expect(overlaps).toBe(0)
  expect(repeats).toBeLessThanOrEqual(kills * ORDERS)
})

it('sends each report from one of several processes', async () => {
  const steps = scaled(12, 100)
  const { updates, behave, launch, inviteIds, addEvents, allReported, statusesOf } = await start()
  behave((response) => void setTimeout(() => response.writeHead(200).end(), 5 + Math.random() * 20))
  await launch()
  await addEvents(steps)
  await allReported(steps * ORDERS)
  const wanted = Array.from({ length: steps }, (_, i) => STEPS[i % STEPS.length]![1])
  expect(inviteIds.map(statusesOf)).toEqual(inviteIds.map(() => wanted))
  expect(updates).toHaveLength(steps * ORDERS)
})

it('gives up on a silent ATS after 10 s, and delays no other orders', async () => {
  const { updates, behave, db, inviteIds, addEvents } = await start()
  const [hung] = inviteIds
  behave((response, message, request) => {
    if (message.event.assessment_id !== hung) answerWith(200)(response, message, request)
  })
  await addEvents(4)
  await waitUntil('the reports of the other orders', async () =>
    (await db.atsReport.count({ where: { state: 'delivered' } })) === 16 ? true : undefined,
  )
  const order = () => db.atsOrder.findFirstOrThrow({ where: { inviteId: hung! } })
  await waitUntil('the end', async () => ((await order()).lastError === 'No complete answer within 10 s' ? true : undefined))
  expect(
    updates.filter(({ event }) => event.assessment_id === hung).every(({ event }) => event.assessment_status?.value === 'Opened'),
  ).toBe(true)
})

import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { type Context, enterOrganization } from '../../src/domain/context.ts'
import { startBulkChange } from '../../src/domain/invites/bulk/bulk-changes.ts'
import { DAY_MS } from '../support/factories.ts'
import { openTestDatabase, startProcess } from '../support/processes.ts'
import { LONG, scaled } from '../support/scale.ts'
import { startServiceForTest } from '../support/service.ts'
import { waitUntil } from '../support/wait-until.ts'

const INVITES = scaled(400, 5_000)
const KILLS = scaled(2, 5)
/** A killed process's job counts as lost after 10 s without a heartbeat, and its retry waits 10 to 40 s. The machine may be busy. */
const RECOVERY_MS = LONG ? 900_000 : 300_000

it(`resends ${INVITES} invitations exactly once each by one bulk change, despite kills`, async () => {
  const database = await openTestDatabase()
  onTestFinished(() => database.db.$disconnect())
  const { db, make, url } = database
  const { id: organizationId, name } = await make.organization()
  const assessment = await make.assessment(organizationId)
  await make.question(assessment)
  const member = await make.member(organizationId, { roles: ['admin'] })
  // All were sent two days ago. Every tenth is completed, and must not get a mail.
  const first = await make.invite(assessment, { sentAt: new Date(Date.now() - 2 * DAY_MS) })
  const { metadata: _, ...like } = first
  const rows = Array.from({ length: INVITES - 1 }, (_, i) => ({
    ...like,
    id: crypto.randomUUID(),
    recipientEmail: `candidate-${i}@example.com`,
    status: i % 10 === 9 ? ('completed' as const) : ('pending' as const),
  }))
  await db.invite.createMany({ data: rows })
  const open = 1 + rows.filter(({ status }) => status === 'pending').length
  const launch = () => startProcess({ DATABASE_URL: url })
  let running = await launch()

  // This process adds the job to the queue that the service has created.
  const gate = await startServiceForTest({ DATABASE_URL: url, ROLE: 'api' })
  const actor = { kind: 'member' as const, id: member.id, userId: member.userId, roles: member.roles }
  const ctx: Context = enterOrganization({ ...gate.system, actor }, { id: organizationId, name, tier: 'standard' }, 'live')
  const since = performance.now()
  const id = await startBulkChange(ctx, { action: 'resend', params: {}, selection: { filter: {} }, most: INVITES })
  process.stdout.write(`${INVITES} invites noted in ${Math.round(performance.now() - since)} ms\n`)

  const where = { organizationId }
  const countDone = () => db.bulkChangeRow.count({ where: { ...where, state: { not: 'ready' } } })
  for (let kill = 1; kill <= KILLS; kill++) {
    const half = Math.floor((INVITES * kill) / (KILLS + 1))
    await waitUntil('more invites', async () => ((await countDone()) >= half ? true : undefined), RECOVERY_MS)
    await sleep(Math.random() * 20)
    running.kill('SIGKILL')
    await running.exited
    process.stdout.write(`killed at ${await countDone()} of ${INVITES}\n`)
    running = await launch()
  }
  const isFinished = async () => (await db.bulkChange.findUniqueOrThrow({ where: { id } })).finishedAt ?? undefined
  await waitUntil('the bulk change to finish', isFinished, RECOVERY_MS)
  process.stdout.write(`finished after ${Math.round(performance.now() - since)} ms\n`)

  const invites = await db.invite.findMany({ where, include: { emails: true } })
  const sendings = invites.filter(({ status }) => status === 'pending').map(({ emails }) => emails.length)
  expect([sendings.length, new Set(sendings)]).toEqual([open, new Set([1])])
  expect(invites.filter(({ status, emails }) => status === 'completed' && emails.length > 0)).toEqual([])
  const counts = await db.bulkChangeRow.groupBy({ by: ['state'], where, _count: true, orderBy: { state: 'asc' } })
  expect(Object.fromEntries(counts.map(({ state, _count }) => [state, _count]))).toEqual({ done: open, invalid: INVITES - open })
  const events = await db.event.groupBy({ by: ['inviteId'], where: { ...where, type: 'invite.resent' }, _count: true })
  expect([events.length, new Set(events.map(({ _count }) => _count))]).toEqual([open, new Set([1])])
  expect(await db.auditEntry.count({ where: { ...where, action: 'resent_invite', actorId: member.id } })).toBe(open)
  expect(await db.auditEntry.count({ where: { ...where, action: 'changed_many' } })).toBe(1)
})

import { expect, it, onTestFinished } from 'vitest'
import { type Context, enterOrganization } from '../../src/domain/context.ts'
import { startBulkChange } from '../../src/domain/invites/bulk/bulk-changes.ts'
import { openTestDatabase, startProcess } from '../support/processes.ts'
import { LONG, scaled } from '../support/scale.ts'
import { startServiceForTest } from '../support/service.ts'
import { waitUntil } from '../support/wait-until.ts'

const RESULTS = scaled(400, 5_000)
const KILLS = 2
/** A killed process's job counts as lost after 10 s without a heartbeat, and its retry waits 10 to 40 s. The machine may be busy. */
const RECOVERY_MS = LONG ? 900_000 : 300_000

it(`decides about ${RESULTS} candidates exactly once each by one bulk change, despite ${KILLS} kills`, async () => {
  const database = await openTestDatabase()
  onTestFinished(() => database.db.$disconnect())
  const { db, make, url } = database
  const { id: organizationId, name } = await make.organization()
  const assessment = await make.assessment(organizationId)
  const member = await make.member(organizationId, { roles: ['admin'] })
  const { metadata: _, ...like } = await make.invite(assessment, { status: 'completed' })
  await db.invite.deleteMany()
  const invites = Array.from({ length: RESULTS }, (_, i) => ({
    ...like,
    id: crypto.randomUUID(),
    recipientEmail: `candidate-${i}@example.com`,
  }))
  await db.invite.createMany({ data: invites })
  const now = new Date()
  const submission = { organizationId, assessmentId: assessment.id, questionReplayLimit: 1, answerRecordLimit: 1 }
  const times = { submittedAt: now, releasedAt: now, createdAt: now, updatedAt: now }
  const submissions = invites.map(({ id: inviteId }) => ({
    ...submission,
    ...times,
    id: crypto.randomUUID(),
    inviteId,
    state: 'released' as const,
  }))
  await db.submission.createMany({ data: submissions })
  const result = { points: 1, ofPoints: 1, comment: '', message: '', toCandidate: false, grades: [], createdAt: now }
  await db.release.createMany({
    data: submissions.map(({ id: submissionId }) => ({
      ...result,
      organizationId,
      id: crypto.randomUUID(),
      submissionId,
      version: 1,
      releasedById: member.id,
    })),
  })
  const launch = () => startProcess({ DATABASE_URL: url })
  let running = await launch()

  // This process adds the job to the queue that the service has created.
  const gate = await startServiceForTest({ DATABASE_URL: url, ROLE: 'api' })
  const actor = { kind: 'member' as const, id: member.id, userId: member.userId, roles: member.roles }
  const ctx: Context = enterOrganization({ ...gate.system, actor }, { id: organizationId, name, tier: 'standard' }, 'live')
  const params = { decision: 'shortlist', note: 'By phone' }
  const id = await startBulkChange(ctx, { action: 'decide', params, selection: { filter: {} }, most: RESULTS })

  const where = { organizationId }
  const countDone = () => db.bulkChangeRow.count({ where: { ...where, state: 'done' } })
  for (let kill = 1; kill <= KILLS; kill++) {
    const some = Math.floor((RESULTS * kill) / (KILLS + 1))
    await waitUntil('more decisions', async () => (await countDone()) >= some || undefined, RECOVERY_MS)
    running.kill('SIGKILL')
    await running.exited
    process.stdout.write(`killed at ${await countDone()} of ${RESULTS}\n`)
    running = await launch()
  }
  const isFinished = async () => (await db.bulkChange.findUniqueOrThrow({ where: { id } })).finishedAt ?? undefined
  await waitUntil('the bulk change to finish', isFinished, RECOVERY_MS)

  expect(await countDone()).toBe(RESULTS)
  expect(await db.submission.count({ where: { ...where, decision: 'shortlist', decidedById: member.id } })).toBe(RESULTS)
  const events = await db.event.groupBy({ by: ['inviteId'], where: { ...where, type: 'submission.decided' }, _count: true })
  expect([events.length, new Set(events.map(({ _count }) => _count))]).toEqual([RESULTS, new Set([1])])
  expect(await db.auditEntry.count({ where: { ...where, action: 'decided', actorId: member.id } })).toBe(RESULTS)
})

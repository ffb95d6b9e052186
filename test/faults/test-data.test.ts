import { expect, it, onTestFinished } from 'vitest'
import { createApiKey } from '../../src/domain/api-keys/api-keys.ts'
import { ask, openTestDatabase, startProcess } from '../support/processes.ts'
import { LONG } from '../support/scale.ts'
import { waitUntil } from '../support/wait-until.ts'

const INVITES = 5_000
const KILLS = 3
/** A killed process's job counts as lost after 10 s without a heartbeat, and its retry waits 10 to 40 s. The machine may be busy. */
const RECOVERY_MS = 900_000

it.runIf(LONG)(`deletes ${INVITES} test invites despite kills, while a live integration continues`, async () => {
  const { db, deps, make, system, url } = await openTestDatabase()
  onTestFinished(() => db.$disconnect())
  const { id: organizationId, key } = await make.organization()
  const { key: testKey } = await createApiKey(system, { organizationId, name: 'Sandbox', mode: 'test' })
  const assessment = await make.assessment(organizationId)
  const { id: _, metadata: __, ...invite } = await make.invite(assessment, { mode: 'test', status: 'completed' })
  const ids = Array.from({ length: INVITES - 1 }, () => deps.newId())
  const rows = ids.map((id, i) => ({ ...invite, id, recipientEmail: `candidate-${i}@example.com` }))
  await db.invite.createMany({ data: rows })
  const now = deps.clock()
  const submission = { organizationId, assessmentId: assessment.id, questionReplayLimit: 1, answerRecordLimit: 1 }
  const sent = { ...submission, state: 'submitted' as const, createdAt: now, updatedAt: now }
  await db.submission.createMany({ data: ids.map((inviteId) => ({ ...sent, id: deps.newId(), inviteId })) })

  const launch = () => startProcess({ DATABASE_URL: url, RATE_LIMIT_STANDARD: '1000000' })
  let running = await launch()
  const remove = async () => {
    const headers = { 'x-api-key': testKey }
    return (await fetch(`${running.url}/api/v1/test-data`, { method: 'DELETE', headers })).json()
  }
  expect(await remove()).toEqual({
    deleted: { invites: 100, submissions: expect.any(Number), media: 0, lists: 0 },
    remaining: INVITES - 100,
  })

  const count = () => db.invite.count({ where: { organizationId, mode: 'test' } })
  const made: number[] = []
  const live = async () => {
    const body = { assessmentId: assessment.id, recipientEmail: `live-${made.length}@example.com`, sendEmail: false }
    made.push((await ask(running, key, '/invites', body)).status)
  }
  let left = await count()
  for (let kill = 1; kill <= KILLS; kill++) {
    const until = Math.floor((INVITES * (KILLS + 1 - kill)) / (KILLS + 1))
    await waitUntil(
      'some invites to be deleted',
      async () => {
        await live()
        left = await count()
        return left <= until ? true : undefined
      },
      RECOVERY_MS,
    )
    running.kill('SIGKILL')
    await running.exited
    process.stdout.write(`killed with ${await count()} left, ${made.length} live invites made meanwhile\n`)
    running = await launch()
  }
  await waitUntil('all test invites to be deleted', async () => ((await count()) === 0 ? true : undefined), RECOVERY_MS)
  expect(await db.submission.count({ where: { organizationId } })).toBe(0)
  expect(new Set(made)).toEqual(new Set([201]))
  expect(await db.invite.count({ where: { organizationId, mode: 'live' } })).toBe(made.length)
  expect(await remove()).toMatchObject({ deleted: { invites: 0 }, remaining: 0 })
})

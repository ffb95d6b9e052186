import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { type Context, enterOrganization } from '../../src/domain/context.ts'
import { correctKey } from '../../src/domain/submissions/corrections/correct-key.ts'
import { previewCorrection } from '../../src/domain/submissions/corrections/preview.ts'
import { makeAnswered } from '../support/answered.ts'
import { openTestDatabase, startProcess } from '../support/processes.ts'
import { LONG, scaled } from '../support/scale.ts'
import { startServiceForTest } from '../support/service.ts'
import { waitUntil } from '../support/wait-until.ts'

const ANSWERS = scaled(600, 20_000)
const DECIDED = 50
const KILLS = scaled(1, 3)
/** A killed process's job counts as lost after 10 s without a heartbeat. The machine may be busy. */
const RECOVERY_MS = LONG ? 600_000 : 300_000

const ONE = {
  responseType: 'single_choice',
  spec: {
    options: [
      { id: 'qkzvwtab', text: 'Oslo' },
      { id: 'mfpdxhce', text: 'Bergen' },
      { id: 'aabbccdd', text: 'Trondheim' },
    ],
    shuffle: true,
  },
  key: { policy: 'exact', right: ['qkzvwtab'] },
}

it(`rescores ${ANSWERS} answers once by a corrected key despite kills, lowers no result, and keeps manual grades`, async () => {
  const database = await openTestDatabase()
  onTestFinished(() => database.db.$disconnect())
  const { db, url } = database
  const { options } = ONE.spec
  // Half of the results are released. One third chose the right option, one third the option of the corrected key, one third another.
  const answers = Array.from({ length: ANSWERS }, (_, i) => ({
    value: [options[i % 3]!.id],
    released: i % 2 === 0,
    ...(i < 2 * DECIDED && i % 2 === 0 && { given: 4 }),
  }))
  const { organization, organizationId, versionId, submissionIds } = await makeAnswered(database, ONE, answers)
  const member = await database.make.member(organizationId, { roles: ['admin'] })
  const releasedBefore = await db.release.findMany({ where: { organizationId }, select: { submissionId: true, points: true } })
  const gate = await startServiceForTest({ DATABASE_URL: url, ROLE: 'api' })
  const actor = { kind: 'member' as const, id: member.id, userId: member.userId, roles: member.roles }
  const ctx: Context = enterOrganization({ ...gate.system, actor }, { ...organization, tier: 'standard' }, 'live')
  await db.$executeRaw`ANALYZE`
  const launch = () => startProcess({ DATABASE_URL: url })
  let running = await launch()

  const change = { effect: 'key' as const, key: { policy: 'exact', right: ['mfpdxhce'] }, reason: 'It is Bergen' }
  const sinceAsked = performance.now()
  const { assessments } = await previewCorrection(ctx, versionId, change)
  const previewMs = Math.round(performance.now() - sinceAsked)
  const { live: counts } = assessments[0]!.counts.raise
  expect(counts).toMatchObject({ handedIn: ANSWERS, decided: DECIDED, released: ANSWERS / 2 })
  expect(counts.more + counts.less + counts.same).toBe(ANSWERS - DECIDED)

  const since = performance.now()
  await correctKey(ctx, versionId, { ...change, releases: 'raise', seen: 1 })
  const countDone = () => db.questionScore.count({ where: { organizationId, keyNumber: 2 } })
  for (let kill = 1; kill <= KILLS; kill++) {
    const some = Math.floor((ANSWERS * kill) / (KILLS + 1) / 200) * 200
    await waitUntil('more answers', async () => ((await countDone()) >= some ? true : undefined), RECOVERY_MS)
    await sleep(Math.random() * 20)
    running.kill('SIGKILL')
    await running.exited
    process.stdout.write(`killed at ${await countDone()} of ${ANSWERS}\n`)
    running = await launch()
  }
  const where = { organizationId_versionId_number: { organizationId, versionId, number: 2 } }
  const isDone = async () => (await db.answerKey.findUniqueOrThrow({ where })).appliedAt ?? undefined
  await waitUntil('the correction to finish', isDone, RECOVERY_MS)
  process.stdout.write(
    `${ANSWERS} answers: preview ${previewMs} ms, corrected after ${Math.round(performance.now() - since)} ms\n`,
  )

  const scores = await db.questionScore.findMany({ where: { organizationId, keyNumber: 2 } })
  expect([scores.length, new Set(scores.map(({ submissionId }) => submissionId)).size]).toEqual([ANSWERS, ANSWERS])
  const chosenBy = new Map(submissionIds.map((id, i) => [id, answers[i]!.value[0]]))
  expect(
    scores.filter(({ submissionId, points }) => Number(points) !== (chosenBy.get(submissionId) === 'mfpdxhce' ? 10 : 0)),
  ).toEqual([])
  expect(scores.filter(({ outcome }) => outcome === 'decided')).toHaveLength(DECIDED)
  expect(scores.filter(({ outcome }) => outcome === 'kept')).toHaveLength(counts.releasedLess + counts.releasedOpen)

  const anew = await db.release.findMany({
    where: { organizationId, version: { gt: 1 } },
    select: { submissionId: true, points: true, version: true },
  })
  const before = new Map(releasedBefore.map(({ submissionId, points }) => [submissionId, Number(points)]))
  expect([anew.length, new Set(anew.map(({ submissionId }) => submissionId)).size]).toEqual([
    counts.releasedMore,
    counts.releasedMore,
  ])
  expect(anew.filter(({ submissionId, points }) => Number(points) <= before.get(submissionId)!)).toEqual([])
  const decided = new Set(submissionIds.filter((_, i) => 'given' in answers[i]!))
  expect([decided.size, anew.filter(({ submissionId }) => decided.has(submissionId))]).toEqual([DECIDED, []])
  const releasedEvents = { organizationId, type: 'submission.released' as const }
  expect(await db.event.count({ where: releasedEvents })).toBe(counts.releasedMore)
  expect(await db.auditEntry.count({ where: { organizationId, action: 'released_result' } })).toBe(counts.releasedMore)
  const key = await db.answerKey.findUniqueOrThrow({ where })
  expect(key.progress).toMatchObject({ done: ANSWERS, releasedAnew: counts.releasedMore, counts: { live: counts } })
})

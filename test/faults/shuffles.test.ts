import { expect, it } from 'vitest'
import { candidateOf, consent, NO_REQUIREMENTS } from '../support/candidate.ts'
import { makeDefined } from '../support/kinds.ts'
import { openTestDatabase } from '../support/processes.ts'
import { scaled } from '../support/scale.ts'
import { type Service, startServiceForTest } from '../support/service.ts'
import { makePool, makeSectioned } from '../support/structure.ts'
import { openTab } from '../support/taking.ts'

const STARTS = scaled(20, 1_000)
const QUESTIONS = 20

const letters = (i: number) => String.fromCharCode(97 + i).repeat(8)
const SHUFFLED = {
  responseType: 'single_choice',
  spec: { options: Array.from({ length: 6 }, (_, i) => ({ id: letters(i), text: `Option ${i}` })), shuffle: true },
  key: { policy: 'exact', right: [letters(0)] },
}

it(`shows the options of ${QUESTIONS} questions in one order at ${STARTS} starts, in any tab, device, and process`, async () => {
  const { db, url } = await openTestDatabase()
  await db.$disconnect()
  const before = await startServiceForTest({ DATABASE_URL: url, ROLE: 'api' })
  const definitions = Array.from({ length: QUESTIONS }, () => SHUFFLED)
  const { assessment } = await makeDefined(before, definitions)
  const invites = await Promise.all(
    Array.from({ length: STARTS }, () => before.make.invite(assessment, { status: 'accepted', ...NO_REQUIREMENTS })),
  )
  const seen = async (service: Service, invite: (typeof invites)[number], agent: string) => {
    const { path } = candidateOf(service, invite)
    const { text } = await service.http().get(path).set('user-agent', agent)
    return [...text.matchAll(/value="([a-z]{8})"/g)].map(([, id]) => id)
  }
  const papers = () =>
    before.db.submissionQuestion.findMany({
      where: { organizationId: assessment.organizationId },
      select: { submissionId: true, number: true, shown: true },
      orderBy: [{ submissionId: 'asc' }, { number: 'asc' }],
    })

  const orders: (string | undefined)[][] = []
  for (const [i, invite] of invites.entries()) {
    const candidate = candidateOf(before, invite)
    await consent(candidate)
    await candidate.press('start')
    const number = (i % QUESTIONS) + 1
    for (let earlier = 1; earlier < number && i < QUESTIONS; earlier++) {
      await candidate.press('open', { number: String(earlier) })
      await candidate.press('next', { number: String(earlier) })
    }
    await candidate.press('open', { number: String(i < QUESTIONS ? number : 1) })
    orders.push(await seen(before, invite, 'One browser'))
    expect(await seen(before, invite, 'One browser')).toEqual(orders[i])
    await openTab(before, candidate)
    expect(await seen(before, invite, 'A phone')).toEqual(orders[i])
  }
  const stored = await papers()
  expect(stored.length).toBe(STARTS * QUESTIONS)
  expect(orders.filter((order) => order.length !== 6)).toEqual([])
  // 6 options have 720 orders.
  expect(new Set(orders.map((order) => order.join())).size).toBeGreaterThan(STARTS / 4)

  const after = await startServiceForTest({ DATABASE_URL: url, ROLE: 'api' })
  for (const [i, invite] of invites.entries()) expect(await seen(after, invite, 'One browser')).toEqual(orders[i])
  expect(await papers()).toEqual(stored)
})

it(`gives each of ${STARTS} candidates a different paper with the same points`, async () => {
  const { db, url } = await openTestDatabase()
  await db.$disconnect()
  const service = await startServiceForTest({ DATABASE_URL: url, ROLE: 'api' })
  const { assessment, questions } = await makeSectioned(service, [
    { shuffle: true, questions: Array.from({ length: QUESTIONS }, () => ({ points: 5 })) },
  ])
  await makePool(service, questions.slice(0, 10), { draw: 4 })
  const { organizationId } = assessment
  const { totalPoints } = await service.db.assessment.findUniqueOrThrow({ where: { id: assessment.id } })
  const orders: string[] = []
  for (let i = 0; i < STARTS; i++) {
    const invite = await service.make.invite(assessment, { status: 'accepted', ...NO_REQUIREMENTS })
    const candidate = candidateOf(service, invite)
    await consent(candidate)
    await candidate.press('start').expect(303)
  }
  const stored = await service.db.submissionQuestion.findMany({
    where: { organizationId },
    orderBy: [{ submissionId: 'asc' }, { number: 'asc' }],
  })
  const bySubmission = Map.groupBy(stored, ({ submissionId }) => submissionId)
  expect(bySubmission.size).toBe(STARTS)
  for (const paper of bySubmission.values()) {
    expect(paper.reduce((sum, { points }) => sum + points, 0)).toBe(totalPoints)
    orders.push(paper.map(({ questionId }) => questionId).join())
  }
  expect(new Set(orders).size).toBe(STARTS)
})

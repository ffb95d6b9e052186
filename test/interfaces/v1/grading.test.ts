import { expect, it } from 'vitest'
import { changeApiKey, createApiKey } from '../../../src/domain/api-keys/api-keys.ts'
import { readFeed } from '../../support/events.ts'
import { recordQueries } from '../../support/queries.ts'
import { startServiceForFile } from '../../support/service.ts'

const service = await startServiceForFile()

it('assigns, grades, releases, and reopens for a member, with the key as actor in event and audit log', async () => {
  const organization = await service.make.organization({ mode: 'test' })
  const organizationId = organization.id
  const grader = await service.make.member(organizationId, { roles: ['grader'] })
  const client = await service.make.member(organizationId, { roles: ['client'] })
  const assessment = await service.make.assessment(organizationId)
  for (const order of [1, 2]) await service.make.question(assessment, { order, responseType: 'text', points: 5 })
  const v1 = service.v1(organization.key)
  const invited = await v1.post('/invites').send({ assessmentId: assessment.id, recipientEmail: 'kim@example.com' })
  const path = `/invites/${invited.body.invite.id}/submission`
  await v1.post(`/invites/${invited.body.invite.id}/simulate`).send({ action: 'complete' })
  const codeOf = ({ status, headers }: { status: number; headers: Record<string, string> }) => [status, headers['x-error-code']]
  expect(codeOf(await v1.get(`${path}/grades`))).toEqual([403, 'manage_required'])
  await changeApiKey(service.system, organization.apiKeyId, { rights: ['manage'] })
  const live = await createApiKey(service.system, { organizationId, name: 'Live', mode: 'live' })
  await changeApiKey(service.system, live.apiKey.id, { rights: ['manage'] })
  expect(codeOf(await service.v1(live.key).get(`${path}/grades`))).toEqual([404, 'invite_not_found'])

  const assigned = await v1.patch(`${path}/graders`).send({ assignedGraderId: grader.id })
  expect([assigned.status, assigned.body]).toMatchObject([200, { assignedGraderId: grader.id, isGraded: false, ofPoints: 10 }])
  expect(codeOf(await v1.patch(`${path}/graders`).send({ assignedGraderId: client.id }))).toEqual([400, 'invalid'])
  expect(codeOf(await v1.post(`${path}/release`).send({ toCandidate: true }))).toEqual([409, 'state_conflict'])
  const grades = [
    { number: 1, points: 4.5, comment: 'Clear.' },
    { number: 2, points: 3 },
  ]
  expect(codeOf(await v1.patch(`${path}/grades`).send({ grades, graderId: client.id }))).toEqual([400, 'invalid'])
  const tooMany = [grades[0], { number: 2, points: 6 }]
  expect((await v1.patch(`${path}/grades`).send({ grades: tooMany })).body.error).toBe(
    'points must be between 0 and 5, in steps of 0.5',
  )
  expect((await v1.get(`${path}/grades`)).body.points).toBe(0)
  const graded = await v1.patch(`${path}/grades`).send({ grades, seen: assigned.body.seen })
  expect([graded.status, graded.body]).toMatchObject([200, { points: 7.5, isGraded: true }])
  const late = await v1.patch(`${path}/grades`).send({ grades: [{ number: 1, points: 1 }], seen: assigned.body.seen })
  expect([...codeOf(late), late.body.error]).toEqual([
    409,
    'changed_meanwhile',
    'The grader has graded question 1 since: read the grades again',
  ])
  expect(codeOf(await v1.post(`${path}/release`).send({ toCandidate: true, points: 9 }))).toEqual([409, 'state_conflict'])
  expect((await v1.post(`${path}/release`).send({ toCandidate: true, points: 7.5 })).body.state).toBe('released')
  expect(codeOf(await v1.patch(`${path}/grades`).send({ grades }))).toEqual([409, 'state_conflict'])
  expect((await v1.post(`${path}/reopen`)).body.state).toBe('submitted')

  const { events } = await readFeed(service, organization.key)
  const released = events.find(({ type }) => type === 'submission.released')!
  expect(released.actor).toEqual({ type: 'api_key', id: organization.apiKeyId })
  const log = await service.db.auditEntry.findMany({ where: { organizationId, actorId: organization.apiKeyId } })
  for (const action of ['assigned_grader', 'graded', 'released_result', 'reopened_result'])
    expect(log).toContainEqual(expect.objectContaining({ action, actorKind: 'apiKey', mode: 'test' }))
  expect(await service.db.gradingViewer.count({ where: { organizationId } })).toBe(0)
})

/** Creates a submission for an assessment with this many questions, and a test key with the right to manage. */
async function makeSubmission({ questions, secondGrader = false }: { questions: number; secondGrader?: boolean }) {
  const { id: organizationId, key, apiKeyId } = await service.make.organization({ mode: 'test' })
  await changeApiKey(service.system, apiKeyId, { rights: ['manage'] })
  const makeGrader = () => service.make.member(organizationId, { roles: ['grader'] })
  const [first, second] = [await makeGrader(), await makeGrader()]
  const assessment = await service.make.assessment(organizationId, { secondGrader })
  for (let order = 1; order <= questions; order++) await service.make.question(assessment, { order, points: 5 })
  const v1 = service.v1(key)
  const { body } = await v1.post('/invites').send({ assessmentId: assessment.id, recipientEmail: 'kim@example.com' })
  expect((await v1.post(`/invites/${body.invite.id}/simulate`).send({ action: 'complete' })).status).toBe(200)
  const path = `/invites/${body.invite.id}/submission`
  const grade = (grades: object[], more: object = {}) => v1.patch(`${path}/grades`).send({ grades, graderId: first.id, ...more })
  return { v1, path, first, second, grade }
}

it.each<[grades: object[], error: string]>([
  [[], 'grades is required'],
  [
    [
      { number: 1, points: 1 },
      { number: 3, points: 1 },
    ],
    'grades.1.number must be of a question that was asked',
  ],
  [
    [
      { number: 1, points: 1 },
      { number: 2, points: 1 },
      { number: 1, points: 2 },
    ],
    'grades.2.number must be of another question than those before',
  ],
])('saves none of the invalid grades %j', async (grades, error) => {
  const { grade, v1, path } = await makeSubmission({ questions: 2 })
  expect(await grade(grades)).toMatchObject({ status: 400, body: { error } })
  expect((await v1.get(`${path}/grades`)).body.points).toBe(0)
})

it('grades many answers with about as many statements as few', async () => {
  const { grade } = await makeSubmission({ questions: 60 })
  const grades = (points: number, count: number) => Array.from({ length: count }, (_, i) => ({ number: i + 1, points }))
  const few = await recordQueries(async () => await grade(grades(1, 1)))
  const many = await recordQueries(async () => await grade(grades(2, 60)))
  expect([few.result.body.points, many.result.body.points]).toEqual([1, 120])
  // The corrected grade needs another statement.
  expect(many.queries.length).toBeLessThan(few.queries.length + 5)
})

it('lets two graders swap roles in one request, and never assigns both roles to one', async () => {
  const { v1, path, first, second } = await makeSubmission({ questions: 1, secondGrader: true })
  const assign = (assignedGraderId: string | null, secondGraderId: string | null) =>
    v1.patch(`${path}/graders`).send({ assignedGraderId, secondGraderId })
  for (const [one, other] of [
    [first.id, second.id],
    [second.id, first.id],
    [first.id, null],
    [null, first.id],
  ] as const)
    expect(await assign(one, other)).toMatchObject({ status: 200, body: { assignedGraderId: one, secondGraderId: other } })
  expect(await assign(first.id, first.id)).toMatchObject({ status: 409, headers: { 'x-error-code': 'state_conflict' } })
  expect((await v1.get(`${path}/grades`)).body).toMatchObject({ assignedGraderId: null, secondGraderId: first.id })
})

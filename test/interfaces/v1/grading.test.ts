import { expect, it } from 'vitest'
import { changeApiKey, createApiKey } from '../../../src/domain/access/api-keys.ts'
import { readFeed } from '../../support/events.ts'
import { startServiceForFile } from '../../support/service.ts'

const service = await startServiceForFile()

it('assigns, grades, releases and reopens in the name of a member, and the event and the log say that a key did it', async () => {
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
  expect(await service.db.gradeViewer.count({ where: { organizationId } })).toBe(0)
})

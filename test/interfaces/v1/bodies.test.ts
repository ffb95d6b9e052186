import type { Response, Test } from 'supertest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { unknownId } from '../../support/factories.ts'
import { type Service, startService } from '../../support/service.ts'

// The bodies that v1.md documents, byte for byte. Undocumented additions must not change them.

let service: Service
let made: Awaited<ReturnType<typeof setUp>>
beforeAll(async () => {
  service = await startService()
  service.clock.set('2030-01-02T03:04:05.678Z')
  made = await setUp()
})
afterAll(() => service.close())

const NOW = '2030-01-02T03:04:05.678Z'
const LATER = '2030-02-01T03:04:05.678Z'

/** Creates an organization with one row of each kind. */
async function setUp() {
  const { id: organizationId, key } = await service.make.organization()
  const assessment = await service.make.assessment(organizationId, { name: 'Spoken English', defaultAnswerFormat: 'audio' })
  const english = await service.make.language('en')
  const link = { organizationId, assessmentId: assessment.id, languageId: english.id, position: 0 }
  await service.db.assessmentLanguage.create({ data: link })
  const question = await service.make.question(assessment, { order: 1, script: 'Say "Hi"', points: 5, timeLimit: 30 })
  const names = { email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace' }
  const member = await service.make.member(organizationId, { ...names, roles: ['admin', 'grader'], department: 'Talent' })
  const tag = await service.make.tag(organizationId, { name: 'Sales', description: 'All of sales' })
  const times = { acceptedAt: service.clock.now(), startedAt: service.clock.now() }
  const invite = await service.make.invite(assessment, {
    recipientEmail: 'sam@example.com',
    recipientName: 'Sam',
    status: 'started',
    assignedGraderId: member.id,
    customMessage: 'Welcome',
    ...times,
  })
  const bare = await service.make.invite(assessment, { recipientEmail: 'kim@example.com', sentAt: new Date(0) })
  return { client: service.v1(key), ids: { assessment, question, member, tag, invite, bare } }
}

/** Status and text of the response, with names instead of ids. */
function show({ status, text }: Response): string {
  const known = Object.entries(made.ids).reduce((shown, [name, { id }]) => shown.replaceAll(id, `{${name}}`), text)
  return `${status} ${known.replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}/g, '{new}')}`
}

const TIMES = `"createdAt":"${NOW}","updatedAt":"${NOW}"`
const ASSESSMENT = `"id":"{assessment}","name":"Spoken English","defaultQuestionFormat":"text","defaultAnswerFormat":"audio","languages":["en"],"questionCount":1,"inviteCount":2,${TIMES}`
const QUESTION = `{"id":"{question}","order":1,"inputType":"text","script":"Say \\"Hi\\"","audioUrl":"","videoUrl":"","responseType":"text","points":5,"timeLimit":30,"sourceLanguage":"","targetLanguage":"",${TIMES}}`
const MEMBER = `{"id":"{member}","firstName":"Ada","lastName":"Lovelace","email":"ada@example.com","avatarUrl":"","roles":["admin","grader"],"status":"active","department":"Talent","joinedAt":"${NOW}"}`
const OF_ASSESSMENT = `"assessmentId":"{assessment}","assessmentName":"Spoken English"`
const LIMITS = `"questionReplayLimit":1,"answerRecordLimit":1`
const INVITE = `"id":"{invite}",${OF_ASSESSMENT},"recipientEmail":"sam@example.com","recipientName":"Sam","status":"started",${LIMITS},"sentAt":"${NOW}","expiresAt":"${LATER}","acceptedAt":"${NOW}","startedAt":"${NOW}","completedAt":null`
const unmoved = (id: string, email: string, sentAt: string) =>
  `{"id":"{${id}}",${OF_ASSESSMENT},"recipientEmail":"${email}","recipientName":null,"status":"pending",${LIMITS},"sentAt":"${sentAt}","expiresAt":"${LATER}","acceptedAt":null,"startedAt":null,"completedAt":null}`
const GRADER = `{"id":"{member}","firstName":"Ada","lastName":"Lovelace","email":"ada@example.com"}`
const TAG = `{"id":"{tag}","name":"Sales","color":"#2563EB","description":"All of sales",${TIMES}}`
const page = (total: number) => `"pagination":{"page":1,"limit":20,"total":${total},"totalPages":1}`

it.each<[string, () => Test, string]>([
  ['GET /assessments', () => made.client.get('/assessments'), `200 {"assessments":[{${ASSESSMENT}}],${page(1)}}`],
  [
    'GET /assessments/{assessmentId}',
    () => made.client.get(`/assessments/${made.ids.assessment.id}`),
    `200 {${ASSESSMENT},"totalPoints":5}`,
  ],
  [
    'GET /assessments/{assessmentId}/questions',
    () => made.client.get(`/assessments/${made.ids.assessment.id}/questions`),
    `200 {"questions":[${QUESTION}],${page(1)}}`,
  ],
  ['GET /members', () => made.client.get('/members'), `200 {"members":[${MEMBER}],${page(1)}}`],
  [
    'GET /invites',
    () => made.client.get('/invites'),
    `200 {"invites":[{${INVITE}},${unmoved('bare', 'kim@example.com', '1970-01-01T00:00:00.000Z')}],${page(2)}}`,
  ],
  [
    'GET /invites/{inviteId}',
    () => made.client.get(`/invites/${made.ids.invite.id}`),
    `200 {${INVITE},"assignedGrader":${GRADER},"proctoringSettings":{"screenRecording":true,"webcamMonitoring":true,"requireIdCapture":true},"customMessage":"Welcome","revokedAt":null}`,
  ],
  [
    'POST /invites',
    () => made.client.post('/invites').send({ assessmentId: made.ids.assessment.id, recipientEmail: 'new@example.com' }),
    `201 {"invite":${unmoved('new', 'new@example.com', NOW)}}`,
  ],
  ['GET /tags', () => made.client.get('/tags'), `200 {"tags":[${TAG}],${page(1)}}`],
  ['GET /tags/{tagId}', () => made.client.get(`/tags/${made.ids.tag.id}`), `200 {"tag":${TAG}}`],
  [
    'POST /tags',
    () => made.client.post('/tags').send({ name: 'New' }),
    `201 {"tag":{"id":"{new}","name":"New","color":"#6B7280","description":"",${TIMES}}}`,
  ],
  ['PATCH /tags/{tagId}', () => made.client.patch(`/tags/${made.ids.tag.id}`).send({ color: '#2563EB' }), `200 {"tag":${TAG}}`],
  ['DELETE /tags/{tagId}', () => made.client.delete(`/tags/${made.ids.tag.id}`), `200 {"tag":${TAG}}`],
  ['400', () => made.client.get('/tags?page=0'), '400 {"error":"page must be a positive integer"}'],
  ['401', () => service.v1('no key').get('/tags'), '401 {"error":"Invalid API key"}'],
  ['404', () => made.client.get(`/invites/${unknownId}`), '404 {"error":"Invite not found"}'],
  [
    '409',
    () => made.client.post('/invites').send({ assessmentId: made.ids.assessment.id, recipientEmail: 'sam@example.com' }),
    '409 {"error":"An invite for this email and assessment already exists"}',
  ],
])('%s answers byte for byte as documented', async (_name, send, expected) => {
  expect(show(await send())).toBe(expected)
})

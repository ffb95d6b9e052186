import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { anyJson, anyText, hostileText, percentEncode } from '../../support/hostile-values.ts'
import { compileDocument, type FindSchema } from '../../support/openapi.ts'
import { scaled } from '../../support/scale.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
let address: string
let own: { key: string; assessmentId: string; tagId: string; inviteId: string; memberId: string }
let findSchema: FindSchema
beforeAll(async () => {
  service = await startService()
  address = await service.app.listen({ port: 0, host: '127.0.0.1' })
  const { id, key } = await service.make.organization()
  const assessment = await service.make.assessment(id)
  await service.make.question(assessment)
  const [tag, invite, member] = [await service.make.tag(id), await service.make.invite(assessment), await service.make.member(id)]
  own = { key, assessmentId: assessment.id, tagId: tag.id, inviteId: invite.id, memberId: member.id }
  findSchema = await compileDocument(service, 'v1')
})
afterAll(() => service.close())

const listParameters = ['page', 'limit', 'sort', 'order']
type Route = {
  method: 'get' | 'post' | 'patch' | 'delete'
  path: string
  parameters?: string[]
  fields?: string[]
  numRuns?: number
}
const inviteFields = [
  'assessmentId',
  'recipientEmail',
  'recipientName',
  'customMessage',
  'assignedGraderId',
  'tagIds',
  'proctoringSettings',
]
const limitFields = ['questionReplayLimit', 'answerRecordLimit', 'expiresInDays']
const tagFields = ['name', 'color', 'description']
const routes: Route[] = [
  { method: 'get', path: '/assessments', parameters: listParameters },
  { method: 'get', path: '/assessments/{assessmentId}' },
  { method: 'get', path: '/assessments/{assessmentId}/questions', parameters: listParameters },
  { method: 'get', path: '/members', parameters: listParameters },
  {
    method: 'get',
    path: '/invites',
    parameters: [...listParameters, 'assessmentId', 'assessment_id', 'status', 'recipientEmail', 'tagId'],
  },
  { method: 'get', path: '/events', parameters: ['cursor', 'limit', 'type', 'inviteId', 'mode'] },
  { method: 'get', path: '/invites/{inviteId}' },
  { method: 'post', path: '/invites', fields: [...inviteFields, ...limitFields], numRuns: 400 },
  { method: 'get', path: '/tags', parameters: listParameters },
  { method: 'get', path: '/tags/{tagId}' },
  { method: 'post', path: '/tags', fields: tagFields, numRuns: 300 },
  { method: 'patch', path: '/tags/{tagId}', fields: tagFields, numRuns: 300 },
  { method: 'delete', path: '/tags/{tagId}' },
]

/** Valid JSON text for each field. A test replaces one field, so that no other error hides its effect. */
const goodFields = (): Record<string, string> => ({
  assessmentId: JSON.stringify(own.assessmentId),
  recipientEmail: JSON.stringify(`${crypto.randomUUID()}@example.com`),
  name: JSON.stringify(crypto.randomUUID()),
})

const proctoringOptions = ['screenRecording', 'webcamMonitoring', 'requireIdCapture']
const badFields = (fields: string[]) =>
  fc.uniqueArray(
    fc.oneof(
      { weight: 5, arbitrary: fc.tuple(fc.constantFrom(...fields), anyJson) },
      fc
        .tuple(fc.constantFrom(...proctoringOptions), anyJson)
        .map(([name, json]) => ['proctoringSettings', `{"${name}":${json}}`] as [string, string]),
      fc.tuple(hostileText, anyJson),
    ),
    { minLength: 1, maxLength: 3, selector: ([name]) => name },
  )

describe.each(routes)('$method $path', ({ method, path, parameters = [], fields = [], numRuns = 150 }) => {
  const needsId = path.includes('{')
  const id = needsId
    ? fc.option(
        anyText.filter((text) => text !== ''),
        { freq: fields.length > 0 ? 4 : 1_000, nil: undefined },
      )
    : fc.constant(undefined)
  const query = fc.uniqueArray(
    fc.tuple(fc.oneof(fc.constantFrom('x', ...parameters), hostileText), fc.array(hostileText, { minLength: 1, maxLength: 2 })),
    {
      maxLength: 4,
      selector: ([name]) => name,
    },
  )
  const body = fields.length > 0 ? badFields(fields) : fc.constant([])

  it('never answers 500, and answers any input in a documented shape', async () => {
    await fc.assert(
      fc.asyncProperty(id, query, body, async (id, query, changes) => {
        const ownId = () => ({ '{assessmentId}': own.assessmentId, '{inviteId}': own.inviteId, '{tagId}': own.tagId })
        const target = path.replace(/\{.*\}/, (name) =>
          id === undefined ? ownId()[name as '{tagId}'] : percentEncode(id.slice(0, 500)),
        )
        const search = query
          .flatMap(([name, values]) => values.map((value) => `${percentEncode(name)}=${percentEncode(value.slice(0, 500))}`))
          .join('&')
        const members = Object.entries({ ...pick(goodFields(), fields), ...Object.fromEntries(changes) })
        const text = `{${members.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`
        const response = await fetch(`${address}/api/v1${target}?${search}`, {
          method: method.toUpperCase(),
          headers: { 'x-api-key': own.key, ...(fields.length > 0 && { 'content-type': 'application/json' }) },
          ...(fields.length > 0 && { body: text }),
        })
        expectDocumented(method, path, response.status, await response.json())
      }),
      { numRuns: scaled(numRuns / 5, numRuns) },
    )
  })
})

function expectDocumented(method: string, path: string, status: number, body: unknown): void {
  expect(status).toBeLessThan(500)
  if (status >= 400) expect(body).toEqual({ error: expect.stringMatching(/\S/) })
  const validate = findSchema(method, `/api/v1${path}`, status)
  expect(validate, `${method} ${path} documents ${status}`).toBeDefined()
  expect(validate!(body) || validate!.errors).toBe(true)
}

const pick = (all: Record<string, string>, names: string[]) =>
  Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)))

it('answers valid requests in the documented shapes', async () => {
  const client = service.v1(own.key)
  const expectGood = (method: string, path: string, { status, body }: { status: number; body: unknown }) => {
    expect(status).toBeLessThan(300)
    expectDocumented(method, path, status, body)
  }
  for (const list of ['/assessments', '/members', '/invites', '/tags']) expectGood('get', list, await client.get(list))
  expectGood('get', '/assessments/{assessmentId}', await client.get(`/assessments/${own.assessmentId}`))
  expectGood('get', '/assessments/{assessmentId}/questions', await client.get(`/assessments/${own.assessmentId}/questions`))
  const fields = { assessmentId: own.assessmentId, recipientEmail: 'graded@example.com', assignedGraderId: own.memberId }
  const created = await client.post('/invites').send(fields)
  expectGood('post', '/invites', created)
  expectGood('get', '/invites/{inviteId}', await client.get(`/invites/${created.body.invite.id}`))
  const tag = await client.post('/tags').send({ name: 'Documented' })
  const tagPath = `/tags/${tag.body.tag.id}`
  expectGood('post', '/tags', tag)
  expectGood('get', '/tags/{tagId}', await client.get(tagPath))
  expectGood('patch', '/tags/{tagId}', await client.patch(tagPath).send({ description: 'Still' }))
  expectGood('delete', '/tags/{tagId}', await client.delete(tagPath))
})

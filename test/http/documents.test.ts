import { readFile } from 'node:fs/promises'
import { Type } from '@sinclair/typebox'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fastify from 'fastify'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Context, enterOrganization } from '../../src/domain/context.ts'
import { EVENT_TYPES, TEST_EVENT } from '../../src/domain/events/event.ts'
import { tagInvite } from '../../src/domain/invites/change-invite.ts'
import { INVITE_STATUSES } from '../../src/domain/invites/invites.ts'
import { announceDeprecations, SUNSET } from '../../src/http/openapi/deprecation.ts'
import { describeInterface } from '../../src/http/openapi/openapi.ts'
import { errorDescription } from '../../src/interfaces/v1/errors.ts'
import { readFeed } from '../support/events.ts'
import { findBrokenPromises } from '../support/find-broken-promises.ts'
import { follow, type OpenApiDocument, type OperationObject, readDocument } from '../support/openapi.ts'
import { startServiceForFile, startServiceForTest } from '../support/service.ts'

const service = await startServiceForFile()

const operationsOf = ({ paths }: OpenApiDocument): OperationObject[] =>
  Object.values(paths).flatMap((methods) => Object.values(methods))

const COUNTED = ['X-Request-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset']
const SUCCESS: Record<string, string[]> = {
  ...{ 200: COUNTED, 202: COUNTED, 201: [...COUNTED, 'Location', 'Idempotent-Replayed'] },
  304: [...COUNTED, 'ETag'],
}
/** Statuses with other headers, because the request was rejected before it was counted or parsed. */
const ERRORS: Record<string, string[]> = {
  ...{ 401: ['X-Request-Id'], 408: [], 431: [] },
  ...{ 429: [...COUNTED, 'Retry-After'], 503: ['X-Request-Id', 'Retry-After'] },
}

/** Lists all objects of the document with their paths. */
function walk(node: unknown, way: string[] = []): [way: string[], node: Record<string, unknown>][] {
  if (typeof node !== 'object' || node === null) return []
  const below = Object.entries(node).flatMap(([key, value]) => walk(value, [...way, key]))
  return [[way, node as Record<string, unknown>], ...below]
}

describe.each(['v1', 'alternate'] as const)('the OpenAPI document of %s', (name) => {
  let document: OpenApiDocument
  beforeAll(async () => {
    document = await readDocument(service, name)
  })

  it('lists the common error statuses of every operation', () => {
    for (const { operationId, responses } of operationsOf(document)) {
      const statuses = ['400', '401', '408', '429', '431', '500', '503']
      expect(Object.keys(responses), operationId).toEqual(expect.arrayContaining(statuses))
    }
  })

  it('has an X-Error-Code and a valid example for each kind of error', () => {
    const ajv = new Ajv2020({ strict: false })
    ajv.addSchema(document, name)
    for (const [title, { headers, content }] of Object.entries(document.components.responses)) {
      const code = headers['X-Error-Code'] as { schema: { enum: string[] } } | undefined
      if (!code) continue
      const examples = (content['application/json'] as unknown as { examples: Record<string, { value: object }> }).examples
      expect(Object.keys(examples), title).toEqual(code.schema.enum)
      const validate = ajv.getSchema(`${name}#/components/responses/${title}/content/application~1json/schema`)!
      for (const { value } of Object.values(examples)) expect(validate(value), title).toBe(true)
    }
    const notFound = document.components.responses.InviteNotFound!.headers['X-Error-Code']
    expect(notFound).toMatchObject({ required: true, schema: { enum: ['invite_not_found', 'path_not_found'] } })
  })

  it('describes the headers of every response', () => {
    for (const { operationId, responses } of operationsOf(document)) {
      for (const [status, response] of Object.entries(responses)) {
        const headers = Object.keys(follow(document, response).headers)
        const expected = status < '400' ? SUCCESS[status] : ['X-Error-Code', ...(ERRORS[status] ?? COUNTED)]
        expect(headers, `${operationId} ${status}`).toEqual(expect.arrayContaining(expected!))
      }
    }
    for (const header of Object.values(document.components.headers)) expect(header.description).toBeTruthy()
  })

  it('describes every operation, tag, and parameter', () => {
    const tags = new Map(document.tags.map(({ name, description }) => [name, description]))
    for (const { operationId, description, tags: groups, parameters = [] } of operationsOf(document)) {
      expect(description, operationId).toBeTruthy()
      expect(groups.map((group) => tags.get(group))).toEqual([expect.stringMatching(/./)])
      for (const parameter of parameters) expect(follow(document, parameter).description, operationId).toBeTruthy()
    }
  })

  it("omits the service's own schema keywords", () => {
    const schemas = walk(document).filter(([, { type }]) => type !== undefined)
    for (const [way, schema] of schemas) {
      expect(
        Object.keys(schema).filter((key) => key.startsWith('x-') && key !== SUNSET),
        way.join(),
      ).toEqual([])
      if (schema.format)
        expect(
          way.includes('examples') || ['uuid', 'email', 'date-time', 'uri', 'binary'].includes(schema.format as string),
          way.join(),
        ).toBe(true)
      // Clients may read patterns without the flag `u`.
      if (schema.pattern) expect(schema.pattern).not.toMatch(/u[dD][89a-fA-F]/)
    }
  })

  it('defines the states of an invite once', () => {
    const lists = walk(document).filter(([, { enum: words }]) => JSON.stringify(words) === JSON.stringify(INVITE_STATUSES))
    expect(lists.map(([way]) => way.join('.'))).toEqual(['components.schemas.InviteStatus'])
  })

  it('has the UUID format for every ID in a path', () => {
    const parameters = operationsOf(document).flatMap(({ parameters = [] }) => parameters.map((one) => follow(document, one)))
    const ids = parameters.filter((parameter) => parameter.in === 'path')
    expect(ids.map(({ schema }) => schema.format)).toEqual(ids.map(() => 'uuid'))
  })

  it('names the origin of the request as server', async () => {
    const proxied = await startServiceForTest({ TRUST_PROXY: 'true', PUBLIC_HOSTS: 'assess.example.org' })
    const ask = (headers: Record<string, string>) => proxied.http().get(`/docs/${name}/openapi.json`).set(headers)
    const through = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'assess.example.org', 'X-Forwarded-For': '192.0.2.1' }
    expect((await ask(through)).body.servers).toMatchObject([{ url: 'https://assess.example.org' }])
    expect((await ask({ Host: 'localhost:8080' })).body.servers).toMatchObject([{ url: 'http://localhost:8080' }])
  })
})

it('describes the headers that only some responses have', async () => {
  const [v1, alternate] = [await readDocument(service, 'v1'), await readDocument(service, 'alternate')]
  const headersOf = ({ components }: OpenApiDocument, response: string) => components.responses[response]!.headers
  expect(headersOf(v1, 'TagList')).toHaveProperty('Link')
  expect(headersOf(v1, 'DuplicateInvite')).toHaveProperty('Link')
  expect(headersOf(v1, 'OneInviteDetail')).toHaveProperty('Idempotent-Replayed')
  expect(headersOf(alternate, 'BadRequestOrDuplicateInvite')).toHaveProperty('Link')
  expect(headersOf(alternate, 'Unauthorized')).toHaveProperty('WWW-Authenticate')
})

describe('a documented body', () => {
  const bodyOf = (document: OpenApiDocument, name: string) =>
    document.components.requestBodies[name] as {
      required: boolean
      content: { 'application/json': { schema: { properties: Record<string, object> } } }
    }

  it('is optional if no field is required', async () => {
    const document = await readDocument(service, 'v1')
    const required = Object.keys(document.components.requestBodies).map((name) => [name, bodyOf(document, name).required])
    expect(Object.fromEntries(required)).toEqual({
      AssessmentChange: true,
      CandidateToErase: true,
      InviteChange: true,
      MemberChange: true,
      NewAssessment: true,
      NewInvite: true,
      NewInviteBatch: true,
      NewMember: true,
      NewQuestion: false,
      NewQuestionImport: true,
      NewSuppression: true,
      QuestionChange: true,
      QuestionDefinition: true,
      QuestionPlace: true,
      Accommodations: true,
      NewTag: true,
      OpenLinkSettings: false,
      TagChange: true,
      Extension: true,
      Graders: true,
      Grades: true,
      Release: true,
      Reopening: false,
      Reactivation: false,
      Retake: false,
      NewWebhook: true,
      WebhookChange: true,
      WebhookTest: false,
      Replay: true,
      SecretRotation: false,
      Simulation: true,
    })
  })

  it('has the defaults of the service', async () => {
    const { properties } = bodyOf(await readDocument(service, 'v1'), 'NewInvite').content['application/json'].schema
    expect(properties.proctoringSettings).toMatchObject({
      default: { screenRecording: true, webcamMonitoring: true, requireIdCapture: true },
    })
  })
})

describe('a documented event of v1', () => {
  const messageOf = (document: OpenApiDocument, type: string) => {
    const [{ requestBody }] = Object.values(document.webhooks[type]!) as [OperationObject]
    return follow(document, follow(document, requestBody!).content['application/json'].schema)
  }

  it('is described in the guide to events', async () => {
    const guide = await readFile('docs/guides/keeping-in-step.md', 'utf8')
    expect(EVENT_TYPES.filter((type) => !guide.includes(`\`${type}\``))).toEqual([])
  })

  it('is distinguished by its type, and matches the webhook messages', async () => {
    const document = await readDocument(service, 'v1')
    const { discriminator } = document.components.schemas.Event as unknown as {
      discriminator: { propertyName: string; mapping: Record<string, string> }
    }
    expect([discriminator.propertyName, Object.keys(discriminator.mapping)]).toEqual(['type', [...EVENT_TYPES]])
    expect(Object.keys(document.webhooks)).toEqual([...EVENT_TYPES, TEST_EVENT])
    expect(messageOf(document, 'email.failed')).toMatchObject({
      properties: { type: { enum: ['email.failed'] }, data: { required: expect.arrayContaining(['emailId', 'reason']) } },
    })
    expect(messageOf(document, TEST_EVENT)).toMatchObject({ properties: { data: { required: ['endpointId'] } } })
  })

  it('matches the events of the feed', async () => {
    const { id, key } = await service.make.organization()
    const invite = await service.make.invite(await service.make.assessment(id))
    const [tag, other] = [await service.make.tag(id), await service.make.tag(id)]
    const organization = await service.db.organization.findUniqueOrThrow({ where: { id } })
    const ctx: Context = enterOrganization({ ...service.system, actor: { kind: 'operator' } }, organization, 'live')
    for (const { id: tagId } of [tag, other]) await tagInvite(ctx, invite.id, tagId)
    for (const move of ['extend', 'resend', 'revoke', 'reactivate'])
      await service.v1(key).post(`/invites/${invite.id}/${move}`).send({ expiresInDays: 60 })
    const { events } = await readFeed(service, key)
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    ajv.addSchema(await readDocument(service, 'v1'), 'v1')
    const validate = ajv.getSchema('v1#/components/schemas/Event')!
    expect(events.length).toBeGreaterThan(5)
    for (const event of events) expect([event.type, validate(event)]).toEqual([event.type, true])
    expect(validate({ ...events[0], type: 'email.failed' })).toBe(false)
  })
})

describe('the current API document', () => {
  const readReleased = async (name: string): Promise<OpenApiDocument> =>
    JSON.parse(await readFile(`docs/released/${name}.json`, 'utf8'))
  const today = new Date().toISOString().slice(0, 10)

  it.each(['v1', 'alternate'] as const)(
    'stays compatible with the released %s, except for parts deprecated long enough (docs/versions.md)',
    async (name) => {
      expect(
        findBrokenPromises({ released: await readReleased(name), current: await readDocument(service, name), today }),
      ).toEqual([])
    },
  )

  type Shape = { properties: Record<string, Record<string, unknown>>; required: string[] }
  const schemaOf = ({ components }: OpenApiDocument, name: string) => components.schemas[name] as unknown as Shape
  const bodyOf = ({ components }: OpenApiDocument, name: string) =>
    components.requestBodies[name]!.content['application/json'].schema as unknown as Shape
  const read = (document: OpenApiDocument) => document.paths['/api/v1/tags/{tagId}']!.get!

  it.each<[string, (document: OpenApiDocument) => unknown, string]>([
    ['an operation', (document) => delete document.paths['/api/v1/tags']!.post, 'POST /api/v1/tags: is gone'],
    ['a webhook', ({ webhooks }) => delete webhooks['invite.created'], 'webhook invite.created: is gone'],
    ['a status', (document) => delete read(document).responses[200], 'GET /api/v1/tags/{tagId} 200: is answered no more'],
    [
      'a parameter',
      (document) => document.paths['/api/v1/tags']!.get!.parameters!.pop(),
      'GET /api/v1/tags query order: is gone',
    ],
    [
      'a response field',
      (document) => delete schemaOf(document, 'Tag').properties.color,
      'GET /api/v1/tags 200 .tags[] .color: is gone',
    ],
    [
      'the guarantee that a field is always present',
      (document) => schemaOf(document, 'Tag').required.pop(),
      'GET /api/v1/tags 200 .tags[] .updatedAt: is not always there any more',
    ],
    [
      'the type of a field',
      (document) => Object.assign(schemaOf(document, 'Tag').properties.color!, { type: ['string', 'null'] }),
      'GET /api/v1/tags 200 .tags[] .color: was string, and is string,null',
    ],
    ['a body field', (document) => delete bodyOf(document, 'NewTag').properties.color, 'POST /api/v1/tags body .color: is gone'],
    [
      'an optional field',
      (document) => bodyOf(document, 'NewTag').required.push('color'),
      'POST /api/v1/tags body .color: is required now',
    ],
    [
      'an optional parameter',
      (document) => read(document).parameters!.push({ name: 'x', in: 'query', required: true, schema: {} }),
      'GET /api/v1/tags/{tagId} query x: is required now',
    ],
    [
      'a maximum size',
      (document) => Object.assign(bodyOf(document, 'NewTag').properties.name!, { maxLength: 10 }),
      'POST /api/v1/tags body .name: maxLength was 100, and is 10',
    ],
    [
      'a header',
      ({ components }) => delete components.responses.TagList!.headers.Link,
      'GET /api/v1/tags 200: the header Link is gone',
    ],
  ])('reports the loss of %s', async (_what, change, problem) => {
    const released = await readReleased('v1')
    const current = structuredClone(released)
    change(current)
    expect(findBrokenPromises({ released, current, today })).toContain(problem)
  })

  it('may omit deprecated parts after their sunset', async () => {
    const released = await readReleased('v1')
    Object.assign(released.paths['/api/v1/tags']!.post!, { deprecated: true, [SUNSET]: '2027-12-31' })
    Object.assign(schemaOf(released, 'Tag').properties.color!, { deprecated: true, [SUNSET]: '2027-12-31' })
    const current = structuredClone(released)
    delete current.paths['/api/v1/tags']!.post
    delete schemaOf(current, 'Tag').properties.color
    expect(findBrokenPromises({ released, current, today: '2027-12-31' })).not.toEqual([])
    expect(findBrokenPromises({ released, current, today: '2028-01-01' })).toEqual([])
  })
})

it('sends Deprecation and Sunset for a deprecated operation, and documents it as deprecated', async () => {
  const app = fastify()
  const texts = { title: 'T', introduction: 'I', keyHeader: 'x-api-key', tags: {} }
  const readIt = describeInterface(app, { ...texts, errors: errorDescription })
  announceDeprecations(app)
  app.setValidatorCompiler(() => () => true)
  const schema = { operationId: 'getOld', scope: 'tags:read', description: 'One thing: `/new` has it as well.' } as const
  const deprecated = { since: '2026-12-01', until: '2027-12-31' }
  const query = Type.Object({ old: Type.Optional(Type.String({ deprecated: true, [SUNSET]: '2027-12-31' })) })
  app.get(
    '/old',
    { schema: { ...schema, querystring: query, response: { 200: Type.Object({}) }, deprecated } },
    async ({ url }) => {
      if (url.includes('?')) throw new Error('wrong')
      return {}
    },
  )
  for (const [path, status] of [
    ['/old', 200],
    ['/old?wrong=1', 500],
  ] as const) {
    const { headers, statusCode } = await app.inject(path)
    expect([statusCode, headers.deprecation, headers.sunset]).toEqual([status, '@1796083200', 'Fri, 31 Dec 2027 00:00:00 GMT'])
  }
  const document = readIt() as OpenApiDocument
  const operation = document.paths['/old']!.get!
  expect(operation).toMatchObject({
    ...{ deprecated: true, [SUNSET]: '2027-12-31' },
    description: 'One thing: `/new` has it as well. Deprecated since 2026-12-01, answered until 2027-12-31 at least.',
    parameters: [{ name: 'old', deprecated: true, schema: { deprecated: true, [SUNSET]: '2027-12-31' } }],
  })
  expect(Object.keys(follow(document, operation.responses[200]!).headers)).toEqual(
    expect.arrayContaining(['Deprecation', 'Sunset']),
  )
})

import { Ajv2020 } from 'ajv/dist/2020.js'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Context } from '../../src/domain/context.ts'
import { EVENT_TYPES, TEST_EVENT } from '../../src/domain/events/event.ts'
import { tagInvite } from '../../src/domain/invites/change-invite.ts'
import { INVITE_STATUSES } from '../../src/domain/invites/invites.ts'
import { readFeed } from '../support/events.ts'
import { follow, type OpenApiDocument, type OperationObject, readDocument } from '../support/openapi.ts'
import { startServiceForFile, startServiceForTest } from '../support/service.ts'

const service = await startServiceForFile()

const operationsOf = ({ paths }: OpenApiDocument): OperationObject[] =>
  Object.values(paths).flatMap((methods) => Object.values(methods))

const COUNTED = ['X-Request-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset']
const SUCCESS: Record<string, string[]> = { 200: COUNTED, 201: [...COUNTED, 'Location', 'Idempotent-Replayed'] }
/** Where they differ: a request that was refused too early is not counted, or not one at all. */
const ERRORS: Record<string, string[]> = {
  ...{ 401: ['X-Request-Id'], 408: [], 431: [] },
  ...{ 429: [...COUNTED, 'Retry-After'], 503: ['X-Request-Id', 'Retry-After'] },
}

/** Every object of the document, with the way to it. */
function walk(node: unknown, way: string[] = []): [way: string[], node: Record<string, unknown>][] {
  if (typeof node !== 'object' || node === null) return []
  const below = Object.entries(node).flatMap(([key, value]) => walk(value, [...way, key]))
  return [[way, node as Record<string, unknown>], ...below]
}

describe.each(['v1', 'alternate'] as const)('the document of %s', (name) => {
  let document: OpenApiDocument
  beforeAll(async () => {
    document = await readDocument(service, name)
  })

  it('names for every operation the answers that any request can get', () => {
    for (const { operationId, responses } of operationsOf(document)) {
      const statuses = ['400', '401', '408', '429', '431', '500', '503']
      expect(Object.keys(responses), operationId).toEqual(expect.arrayContaining(statuses))
    }
  })

  it('has for each kind of error its word in X-Error-Code, and an example that fits the schema', () => {
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

  it('describes the headers of every answer', () => {
    for (const { operationId, responses } of operationsOf(document)) {
      for (const [status, response] of Object.entries(responses)) {
        const headers = Object.keys(follow(document, response).headers)
        const expected = status < '400' ? SUCCESS[status] : ['X-Error-Code', ...(ERRORS[status] ?? COUNTED)]
        expect(headers, `${operationId} ${status}`).toEqual(expect.arrayContaining(expected!))
      }
    }
    for (const header of Object.values(document.components.headers)) expect(header.description).toBeTruthy()
  })

  it('describes every operation, every group of them and every parameter', () => {
    const tags = new Map(document.tags.map(({ name, description }) => [name, description]))
    for (const { operationId, description, tags: groups, parameters = [] } of operationsOf(document)) {
      expect(description, operationId).toBeTruthy()
      expect(groups.map((group) => tags.get(group))).toEqual([expect.stringMatching(/./)])
      for (const parameter of parameters) expect(follow(document, parameter).description, operationId).toBeTruthy()
    }
  })

  it('shows nothing that only the service understands', () => {
    const schemas = walk(document).filter(([, { type }]) => type !== undefined)
    for (const [way, schema] of schemas) {
      expect(
        Object.keys(schema).filter((key) => key.startsWith('x-')),
        way.join(),
      ).toEqual([])
      if (schema.format)
        expect(
          way.includes('examples') || ['uuid', 'email', 'date-time', 'uri', 'binary'].includes(schema.format as string),
          way.join(),
        ).toBe(true)
      // Without the flag `u`, as clients read it.
      if (schema.pattern) expect(schema.pattern).not.toMatch(/u[dD][89a-fA-F]/)
    }
  })

  it('has the states of an invite once', () => {
    const lists = walk(document).filter(([, { enum: words }]) => JSON.stringify(words) === JSON.stringify(INVITE_STATUSES))
    expect(lists.map(([way]) => way.join('.'))).toEqual(['components.schemas.InviteStatus'])
  })

  it('gives every id in a path its format', () => {
    const parameters = operationsOf(document).flatMap(({ parameters = [] }) => parameters.map((one) => follow(document, one)))
    const ids = parameters.filter((parameter) => parameter.in === 'path')
    expect(ids.map(({ schema }) => schema.format)).toEqual(ids.map(() => 'uuid'))
  })

  it('says at which address the service answers: where the client found the document', async () => {
    const proxied = await startServiceForTest({ TRUST_PROXY: 'true' })
    const ask = (headers: Record<string, string>) => proxied.http().get(`/docs/${name}/openapi.json`).set(headers)
    const through = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'assess.example.org', 'X-Forwarded-For': '192.0.2.1' }
    expect((await ask(through)).body.servers).toMatchObject([{ url: 'https://assess.example.org' }])
    expect((await ask({ Host: 'localhost:8080' })).body.servers).toMatchObject([{ url: 'http://localhost:8080' }])
  })
})

it('describes the headers that only some answers have', async () => {
  const [v1, alternate] = [await readDocument(service, 'v1'), await readDocument(service, 'alternate')]
  const headersOf = ({ components }: OpenApiDocument, response: string) => components.responses[response]!.headers
  expect(headersOf(v1, 'TagList')).toHaveProperty('Link')
  expect(headersOf(v1, 'DuplicateInvite')).toHaveProperty('Link')
  expect(headersOf(v1, 'OneInviteDetail')).toHaveProperty('Idempotent-Replayed')
  expect(headersOf(alternate, 'BadRequestOrDuplicateInvite')).toHaveProperty('Link')
  expect(headersOf(alternate, 'Unauthorized')).toHaveProperty('WWW-Authenticate')
})

describe('bodies', () => {
  const bodyOf = (document: OpenApiDocument, name: string) =>
    document.components.requestBodies[name] as {
      required: boolean
      content: { 'application/json': { schema: { properties: Record<string, object> } } }
    }

  it('may be left out where nothing in them is needed', async () => {
    const document = await readDocument(service, 'v1')
    const required = Object.keys(document.components.requestBodies).map((name) => [name, bodyOf(document, name).required])
    expect(Object.fromEntries(required)).toEqual({
      NewInvite: true,
      NewTag: true,
      TagChange: true,
      Extension: true,
      Reactivation: false,
      NewWebhook: true,
      WebhookChange: true,
      Replay: true,
      SecretRotation: false,
    })
  })

  it('have the defaults that the service has', async () => {
    const { properties } = bodyOf(await readDocument(service, 'v1'), 'NewInvite').content['application/json'].schema
    expect(properties.proctoringSettings).toMatchObject({
      default: { screenRecording: true, webcamMonitoring: true, requireIdCapture: true },
    })
  })
})

describe('the events in the document of v1', () => {
  const messageOf = (document: OpenApiDocument, type: string) => {
    const [{ requestBody }] = Object.values(document.webhooks[type]!) as [OperationObject]
    return follow(document, follow(document, requestBody!).content['application/json'].schema)
  }

  it('are told apart by their type, each with its data, and are what webhooks are sent, besides a test', async () => {
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

  it('are what the service tells', async () => {
    const { id, key } = await service.make.organization()
    const invite = await service.make.invite(await service.make.assessment(id))
    const [tag, other] = [await service.make.tag(id), await service.make.tag(id)]
    const organization = await service.db.organization.findUniqueOrThrow({ where: { id } })
    const ctx: Context = { ...service.system, organization, mode: 'live', actor: { kind: 'operator' } }
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

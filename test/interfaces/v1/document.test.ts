import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { alwaysThere, follow, type OpenApiDocument, readDocument } from '../../support/openapi.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
let document: OpenApiDocument
beforeAll(async () => {
  service = await startService()
  document = await readDocument(service, 'v1')
})
afterAll(() => service.close())

const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method} ${path}`))

describe('the published API description', () => {
  it('has the version number 1.0.0', () => {
    expect([document.openapi, document.info.version]).toEqual(['3.1.0', '1.0.0'])
  })

  it('has every endpoint of the document', () => {
    expect(operations()).toEqual(
      expect.arrayContaining([
        'get /api/v1/assessments',
        'get /api/v1/assessments/{assessmentId}',
        'get /api/v1/assessments/{assessmentId}/questions',
        'get /api/v1/members',
        'get /api/v1/invites',
        'post /api/v1/invites',
        'get /api/v1/invites/{inviteId}',
        'get /api/v1/tags',
        'post /api/v1/tags',
        'get /api/v1/tags/{tagId}',
        'patch /api/v1/tags/{tagId}',
        'delete /api/v1/tags/{tagId}',
      ]),
    )
  })

  it('requires the header x-api-key everywhere', () => {
    expect(document.components.securitySchemes).toEqual({ apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' } })
    expect(document.security).toEqual([{ apiKey: [] }])
  })

  it('lists the responses 401, 429, 500, and 503 for every operation', () => {
    for (const methods of Object.values(document.paths)) {
      for (const { responses } of Object.values(methods))
        expect(Object.keys(responses)).toEqual(expect.arrayContaining(['401', '429', '500', '503']))
    }
  })

  it('marks all query parameters as optional, and all path parameters as required', () => {
    const parameters = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).flatMap(({ parameters = [] }) => parameters.map((parameter) => follow(document, parameter))),
    )
    expect(parameters.filter((parameter) => parameter.in === 'query' && parameter.required)).toEqual([])
    expect(parameters.filter((parameter) => parameter.in === 'path' && !parameter.required)).toEqual([])
  })

  it('marks every field as required, except in invite changes and if documented as optional', () => {
    const shapes = Object.entries(document.components.schemas).filter(
      ([name, { properties }]) => properties && name !== 'InviteChanges',
    )
    expect(shapes.map(([name]) => name)).toEqual(
      expect.arrayContaining([
        'Assessment',
        'AssessmentDetail',
        'Question',
        'Member',
        'Invite',
        'InviteDetail',
        'Tag',
        'ApiError',
      ]),
    )
    for (const [name, { properties, required }] of shapes) expect(required?.toSorted(), name).toEqual(alwaysThere(properties!))
  })
})

it('shows the API description on a page at /docs', async () => {
  const page = await service.http().get('/docs/').redirects(2)
  expect([page.status, page.type]).toEqual([200, 'text/html'])
})

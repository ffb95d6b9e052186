import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { alwaysThere, follow, type OpenApiDocument, readDocument } from '../../support/openapi.ts'
import { type Service, startService, startServiceForTest } from '../../support/service.ts'

let service: Service
let document: OpenApiDocument
beforeAll(async () => {
  service = await startService()
  document = await readDocument(service, 'alternate')
})
afterAll(() => service.close())

const scope = '/organizations/{organization_id}'
const invites = ['get /assessment_invites', 'post /assessment_invites', 'get /assessment_invites/{id}']
const operations = [
  ...invites,
  ...invites.map((operation) => operation.replace(' ', ` ${scope}`)),
  ...['/assessments', '/organization_users', '/tags'].flatMap((path) => [`get ${path}`, `get ${path}/{id}`]),
]
const find = (operation: string) => {
  const [method, path] = operation.split(' ') as [string, string]
  return document.paths[`/api/alternate${path}`]?.[method]
}

describe('the published API description', () => {
  it('has every endpoint of the document and no other', () => {
    const published = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    )
    expect(published.sort()).toEqual(operations.map((operation) => operation.replace(' ', ' /api/alternate')).sort())
  })

  it('requires the header X-SERVICE-DOCS-API-KEY everywhere', () => {
    expect(document.components.securitySchemes).toEqual({
      apiKey: { type: 'apiKey', in: 'header', name: 'X-SERVICE-DOCS-API-KEY' },
    })
    expect(document.security).toEqual([{ apiKey: [] }])
  })

  it.each(operations)('lists for %s the responses 400, 401, 429, 500, and 503, and 403 below an organization', (operation) => {
    const statuses = ['400', '401', '429', '500', '503', ...(operation.includes(scope) ? ['403'] : [])]
    expect(Object.keys(find(operation)!.responses)).toEqual(expect.arrayContaining(statuses))
  })

  it.each([
    ['get /assessments', 'organization created_by audience question_count tags type answer_type name'],
    ['get /organization_users', 'organization tags is_admin is_grader is_client first_name last_name email'],
    ['get /tags', 'organization name created_by'],
    ['get /assessment_invites', 'organization external_id'],
  ])('lists for %s its filters and the parameters of every list, all optional', (operation, filters) => {
    const all = find(operation)!.parameters!.map((parameter) => follow(document, parameter))
    const parameters = all.filter((parameter) => parameter.in === 'query')
    const names = [...filters.split(' '), 'page', 'page_size', 'search', 'depth']
    expect(parameters.map(({ name }) => name).sort()).toEqual(names.sort())
    expect(parameters.filter(({ required }) => required)).toEqual([])
  })

  it('marks every field of a resource as required unless it is documented as optional', () => {
    for (const name of ['Assessment', 'AssessmentInvite', 'OrganizationUser', 'Tag']) {
      const { properties, required } = document.components.schemas[name]!
      expect(required?.toSorted(), name).toEqual(alwaysThere(properties!))
    }
  })
})

it('follows the prefix that the operator has chosen', async () => {
  const moved = await startServiceForTest({ ALTERNATE_PREFIX: '/snake/v2' })
  const { id, key } = await moved.make.organization()
  for (let i = 0; i < 2; i++) await moved.make.tag(id)
  const { status, body } = await moved.alternate(key).get('/tags?page_size=1')
  expect([status, new URL(body.next).pathname]).toEqual([200, '/snake/v2/tags'])
  expect((await moved.http().get('/api/alternate/tags').set('x-service-docs-api-key', key)).status).toBe(404)
  const { body: published } = await moved.http().get('/docs/alternate/openapi.json')
  expect(Object.keys(published.paths)).toContain('/snake/v2/tags')
})

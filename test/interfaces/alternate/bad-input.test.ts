import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { anyJson, anyText, hostileText, percentEncode } from '../../support/hostile-values.ts'
import { links } from '../../support/links.ts'
import { compileDocument, type FindSchema } from '../../support/openapi.ts'
import { scaled } from '../../support/scale.ts'
import { type Service, startService } from '../../support/service.ts'

const PREFIX = '/api/alternate'

let service: Service
let address: string
let findSchema: FindSchema
let own: { id: string; key: string; ids: Record<string, string> }
beforeAll(async () => {
  service = await startService()
  address = await service.app.listen({ port: 0, host: '127.0.0.1' })
  own = await setUp()
  findSchema = await compileDocument(service, 'alternate')
})
afterAll(() => service.close())

/** Creates an organization in which every reference is set, so that every field of every resource has a value. */
async function setUp() {
  const { make, db, deps } = service
  const { id, key } = await make.organization()
  const [member, tag, language] = [await make.member(id), await make.tag(id, { icon: 'star' }), await make.language('en')]
  const instruction = await db.instruction.create({ data: { id: deps.newId(), organizationId: id, body: 'Speak.' } })
  const category = await db.category.create({ data: { id: deps.newId(), organizationId: id, name: 'Sales' } })
  const assessment = await make.assessment(id, {
    instructionId: instruction.id,
    createdById: member.id,
    skillTypes: ['speaking'],
  })
  const invite = await make.invite(assessment, {
    assignedGraderId: member.id,
    assessmentSession: deps.newId(),
    status: 'started',
  })
  const join = links(db)
  await join.tagMember(member, tag)
  await join.addGradingLanguages(member, language)
  await join.tagAssessment(assessment, tag)
  await join.addClients(assessment, member)
  await join.addLanguages(assessment, language)
  await join.addCategories(assessment, category)
  await join.tagInvite(invite, tag)
  for (let i = 0; i < 2; i++) await make.invite(await make.assessment(id))
  const ids = {
    '/assessments': assessment.id,
    '/assessment_invites': invite.id,
    '/organization_users': member.id,
    '/tags': tag.id,
  }
  return { id, key, ids }
}

const common = ['page', 'page_size', 'search', 'depth', 'organization']
const filters: Record<string, string[]> = {
  '/assessments': [...common, 'created_by', 'audience', 'question_count', 'tags', 'type', 'answer_type', 'name'],
  '/assessment_invites': common,
  '/organization_users': [...common, 'tags', 'is_admin', 'is_grader', 'is_client', 'first_name', 'last_name', 'email'],
  '/tags': [...common, 'name', 'created_by'],
}
const fields = [
  'email',
  'assessment',
  'question_play_limit',
  'answer_record_limit',
  'face_photo_required',
  'id_photo_required',
  'tags',
  'assigned_grader',
]
const scope = '/organizations/{organization_id}'
const resources = [...Object.keys(filters), `${scope}/assessment_invites`]
const resourceOf = (path: string) => path.replace(scope, '').replace('/{id}', '')

/** Expects no server error, and a body that matches the schema documented for this status. */
function expectDocumented(method: string, path: string, status: number, body: unknown): void {
  expect(status).toBeLessThan(500)
  if (status >= 400) expect(body).toSatisfy(isErrorBody)
  const validate = findSchema(method, `${PREFIX}${path}`, status)
  expect(validate, `${method} ${path} documents ${status}`).toBeDefined()
  expect(validate!(body) || validate!.errors).toBe(true)
}

/** True for `{detail}`, and for an object with a list of error texts per field. */
const isErrorBody = (body: Record<string, unknown>) =>
  'detail' in body
    ? Object.keys(body).length === 1 && typeof body.detail === 'string' && body.detail !== ''
    : Object.keys(body).length > 0 && Object.values(body).every((texts) => Array.isArray(texts) && texts.length > 0)

async function send(method: string, target: string, body?: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const headers = { 'x-service-docs-api-key': own.key, ...(body !== undefined && { 'content-type': 'application/json' }) }
  const response = await fetch(`${address}${PREFIX}${target}`, { method, headers, ...(body !== undefined && { body }) })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

/** Fills the path with ids of existing rows, except for the given ones. */
const fill = (path: string, { id, organization }: { id?: string | undefined; organization?: string | undefined } = {}) =>
  path
    .replace('{organization_id}', () => (organization === undefined ? own.id : percentEncode(organization.slice(0, 500))))
    .replace('{id}', () => (id === undefined ? own.ids[resourceOf(path)]! : percentEncode(id.slice(0, 500))))

const arbitraryQuery = (names: string[]) =>
  fc
    .uniqueArray(
      fc.tuple(
        fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...names) }, hostileText),
        fc.array(hostileText, { minLength: 1, maxLength: 2 }),
      ),
      { maxLength: 4, selector: ([name]) => name },
    )
    .map((parameters) =>
      parameters
        .flatMap(([name, values]) => values.map((value) => `${percentEncode(name)}=${percentEncode(value.slice(0, 500))}`))
        .join('&'),
    )
const sometimes = fc.option(anyText, { freq: 3, nil: undefined })
const always = fc.constant(undefined)

const reads = resources.flatMap((path) => [path, `${path}/{id}`])
describe.each(reads)('GET %s', (path) => {
  it('never answers 500, and answers any request in a documented shape', async () => {
    const id = path.endsWith('{id}') ? sometimes : always
    const organization = path.startsWith(scope) ? fc.option(anyText, { freq: 8, nil: undefined }) : always
    const query = arbitraryQuery(path.endsWith('{id}') ? ['depth'] : filters[resourceOf(path)]!)
    await fc.assert(
      fc.asyncProperty(id, organization, query, async (id, organization, query) => {
        // With an empty id, the path belongs to another endpoint or to none.
        fc.pre(id !== '' && organization !== '')
        const { status, body } = await send('GET', `${fill(path, { id, organization })}?${query}`)
        expectDocumented('get', path, status, body)
      }),
      { numRuns: scaled(15, 60) },
    )
  })

  it.each(['', 'depth=1', 'depth=2'])('answers for existing records in the documented shape (%s)', async (query) => {
    const { status, body } = await send('GET', `${fill(path)}?${query}`)
    expect(status).toBe(200)
    expectDocumented('get', path, status, body)
  })
})

/** Valid JSON text for each field. A test replaces one field, so that no other error hides its effect. */
const goodFields = (): Record<string, string> => ({
  email: JSON.stringify(`${crypto.randomUUID()}@example.com`),
  assessment: JSON.stringify(own.ids['/assessments']),
  question_play_limit: '1',
  answer_record_limit: '1',
  face_photo_required: 'true',
  id_photo_required: 'false',
  tags: '[]',
  assigned_grader: 'null',
})

// Both paths have the same handler, so the scoped one needs fewer runs.
describe.each([
  ['/assessment_invites', 150],
  [`${scope}/assessment_invites`, 50],
])('POST %s', (path, numRuns) => {
  it('never answers 500, and answers any fields in a documented shape', async () => {
    const change = fc.oneof(
      { weight: 8, arbitrary: fc.tuple(fc.constantFrom(...fields), anyJson) },
      fc.tuple(hostileText, anyJson),
    )
    const changes = fc.uniqueArray(change, { minLength: 1, maxLength: 3, selector: ([name]) => name })
    await fc.assert(
      fc.asyncProperty(changes, arbitraryQuery(['depth', 'organization']), async (changes, query) => {
        const members = Object.entries({ ...goodFields(), ...Object.fromEntries(changes) })
        const text = `{${members.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`
        const { status, body } = await send('POST', `${fill(path)}?${query}`, text)
        expectDocumented('post', path, status, body)
      }),
      { numRuns: scaled(numRuns / 5, numRuns) },
    )
  })

  it('answers a body of any other form in a documented shape', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(anyJson, hostileText), async (text) => {
        const { status, body } = await send('POST', fill(path), text)
        expect(status).toBeGreaterThanOrEqual(400)
        expectDocumented('post', path, status, body)
      }),
      { numRuns: scaled(numRuns / 25, numRuns / 5) },
    )
  })

  it('answers a valid body in the documented shape', async () => {
    const text = `{${Object.entries(goodFields())
      .map(([name, json]) => `"${name}":${json}`)
      .join(',')}}`
    const { status, body } = await send('POST', fill(path), text)
    expect(status).toBe(201)
    expectDocumented('post', path, status, body)
  })
})

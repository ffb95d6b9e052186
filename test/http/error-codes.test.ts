import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { unknownId } from '../support/factories.ts'
import { readDocument } from '../support/openapi.ts'
import { KEY_HEADERS } from '../support/operations.ts'
import { converse } from '../support/raw-http.ts'
import { type Service, startService, startServiceForTest } from '../support/service.ts'

let service: Service
let address: string
let key: string
let inviteId: string
let invite: { recipientEmail: string; assessmentId: string }
beforeAll(async () => {
  service = await startService()
  address = await service.app.listen({ port: 0, host: '127.0.0.1' })
  const organization = await service.make.organization()
  key = organization.key
  invite = await service.make.invite(await service.make.assessment(organization.id), { status: 'completed' })
  inviteId = (invite as { id: string } & typeof invite).id
  await service.make.tag(organization.id, { name: 'Taken' })
})
afterAll(() => service.close())

const UNKNOWN_ID = unknownId
type Asked = { method?: string; path: string; body?: unknown; headers?: Record<string, string>; key?: string }
const prefixes = { v1: '/api/v1', alternate: '/api/alternate' }

async function ask(of: 'v1' | 'alternate', { method = 'GET', path, body, headers = {}, key: other = key }: Asked) {
  const response = await fetch(`${address}${prefixes[of]}${path}`, {
    method,
    headers: {
      ...(other && { [KEY_HEADERS[of]]: other }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  return [response.status, response.headers.get('x-error-code')]
}
const post = (path: string, body: unknown, headers = {}): Asked => ({ method: 'POST', path, body, headers })

describe('the X-Error-Code header', () => {
  it.each<[number, string, () => Asked]>([
    [400, 'invalid', () => ({ path: '/tags?page=0' })],
    [400, 'invalid', () => post('/tags', { name: '' })],
    [400, 'malformed_json', () => post('/tags', '{')],
    [400, 'forbidden_property', () => post('/tags', '{"name":"a","__proto__":{}}')],
    [400, 'unsupported_encoding', () => post('/tags', { name: 'a' }, { 'content-encoding': 'gzip' })],
    [400, 'unsupported_media_type', () => post('/tags', 'a', { 'content-type': 'text/plain' })],
    [400, 'malformed_request', () => ({ path: '/tags/%zz' })],
    [401, 'api_key_missing', () => ({ path: '/tags', key: '' })],
    [401, 'api_key_unknown', () => ({ path: '/tags', key: 'ak_live_no' })],
    [404, 'tag_not_found', () => ({ path: `/tags/${UNKNOWN_ID}` })],
    [404, 'invite_not_found', () => ({ path: '/invites/1' })],
    [404, 'path_not_found', () => ({ path: '/nowhere' })],
    [404, 'path_not_found', () => ({ path: `/tags/${'x'.repeat(300)}` })],
    [404, 'path_not_found', () => ({ method: 'PUT', path: '/tags' })],
    [404, 'assessment_not_found', () => post('/invites', { assessmentId: UNKNOWN_ID, recipientEmail: 'a@example.com' })],
    [
      409,
      'duplicate_invite',
      () => post('/invites', { assessmentId: invite.assessmentId, recipientEmail: invite.recipientEmail }),
    ],
    [409, 'duplicate_tag_name', () => post('/tags', { name: 'taken' })],
    [409, 'move_not_allowed', () => post(`/invites/${inviteId}/revoke`, {})],
    [404, 'media_not_found', () => ({ path: `/question-media/${UNKNOWN_ID}` })],
    [410, 'cursor_gone', () => ({ path: `/events?cursor=${'9'.repeat(18)}` })],
    [413, 'body_too_large', () => post('/tags', { name: 'x'.repeat(70_000) })],
  ])('names the error of a %i in v1: %s', async (status, code, asked) => {
    expect(await ask('v1', asked())).toEqual([status, code])
  })

  it.each<[number, string, () => Asked]>([
    [400, 'invalid', () => ({ path: '/tags?depth=x' })],
    [400, 'invalid', () => post('/assessment_invites', {})],
    [400, 'invalid', () => post('/assessment_invites', newInvite({ assessment: UNKNOWN_ID }))],
    [400, 'duplicate_invite', () => post('/assessment_invites', newInvite({}))],
    [400, 'malformed_json', () => post('/assessment_invites', '{')],
    [400, 'malformed_request', () => ({ path: '/tags/%zz' })],
    [401, 'api_key_missing', () => ({ path: '/tags', key: '' })],
    [401, 'api_key_unknown', () => ({ path: '/tags', key: 'ak_live_no' })],
    [403, 'organization_forbidden', () => ({ path: `/organizations/${UNKNOWN_ID}/assessment_invites` })],
    [404, 'tag_not_found', () => ({ path: `/tags/${UNKNOWN_ID}` })],
    [404, 'page_not_found', () => ({ path: '/tags?page=9' })],
    [404, 'path_not_found', () => ({ path: '/nowhere' })],
    [405, 'method_not_allowed', () => ({ method: 'DELETE', path: '/tags' })],
    [413, 'body_too_large', () => post('/assessment_invites', { email: 'x'.repeat(70_000) })],
    [400, 'forbidden_property', () => post('/assessment_invites', '{"constructor":{"prototype":{}}}')],
    [415, 'unsupported_encoding', () => post('/assessment_invites', '\u001f', { 'content-encoding': 'gzip' })],
    [415, 'unsupported_media_type', () => post('/assessment_invites', 'a', { 'content-type': 'text/plain' })],
  ])('names the error of a %i in the alternate interface: %s', async (status, code, asked) => {
    expect(await ask('alternate', asked())).toEqual([status, code])
  })

  const newInvite = (fields: object) => ({
    ...{ email: invite.recipientEmail, assessment: invite.assessmentId, question_play_limit: 1, answer_record_limit: 1 },
    ...{ tags: [], face_photo_required: true, id_photo_required: true, assigned_grader: null },
    ...fields,
  })

  it.each(['v1', 'alternate'] as const)('names the error of %s with status 422 or 429', async (of) => {
    const limited = await startServiceForTest({ RATE_LIMIT_STANDARD: '3' })
    const { id, key } = await limited.make.organization()
    const { id: assessmentId } = await limited.make.assessment(id)
    const path = of === 'v1' ? '/invites' : '/assessment_invites'
    const create = (email: string) =>
      limited[of](key)
        .post(path)
        .set('Idempotency-Key', 'once')
        .send(of === 'v1' ? { assessmentId, recipientEmail: email } : newInvite({ assessment: assessmentId, email }))
    expect((await create('a@example.com')).headers).not.toHaveProperty('x-error-code')
    const reused = await create('b@example.com')
    expect([reused.status, reused.headers['x-error-code']]).toEqual([422, 'idempotency_key_reused'])
    await create('c@example.com')
    const refused = await create('d@example.com')
    expect([refused.status, refused.headers['x-error-code']]).toEqual([429, 'rate_limited'])
  })

  it.each([
    ['GET /api/v1/tags HTTP/1.1\r\nHost: a\r\nBad Header\r\n\r\n', 400, 'malformed_request'],
    ['GET /api/alternate/tags HTTP/1.1\r\nHost: a\r\nBad Header\r\n\r\n', 400, 'malformed_request'],
    [`GET /api/v1/tags HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'headers_too_large'],
    ['nonsense\r\n\r\n', 400, 'malformed_request'],
  ])("is sent for bytes that aren't a valid request: %#", async (bytes, status, code) => {
    const { answers } = await converse(Number(new URL(address).port), bytes)
    expect(answers).toMatchObject([{ status, headers: { 'x-error-code': code } }])
  })

  it('distinguishes compressed bodies and __proto__ from malformed JSON', async () => {
    const texts = async (of: 'v1' | 'alternate', path: string, body: string, headers = {}) =>
      (
        await service[of](key)
          .post(path)
          .set({ 'content-type': 'application/json', ...headers })
          .send(body)
      ).body
    const gzip = { 'content-encoding': 'gzip' }
    const property = 'The request body contains forbidden prototype property names: __proto__, or constructor.prototype'
    expect(await texts('v1', '/tags', '{"__proto__":1}')).toEqual({ error: property })
    expect(await texts('alternate', '/assessment_invites', '{"a":{"__proto__":1}}')).toEqual({ detail: property })
    expect(await texts('v1', '/tags', '{}', gzip)).toEqual({
      error: 'The request body must not be compressed: send it without the header Content-Encoding',
    })
    expect(await texts('alternate', '/assessment_invites', '{}', gzip)).toEqual({
      detail: 'Unsupported content encoding "gzip" in request.',
    })
    expect((await service.v1(key).post('/tags').set('content-encoding', 'identity').send({ name: 'Plain' })).status).toBe(201)
  })

  it('is sent outside of both interfaces', async () => {
    const { status, headers } = await service.http().get('/nowhere')
    expect([status, headers['x-error-code']]).toEqual([404, 'path_not_found'])
  })

  it.each(['v1', 'alternate'] as const)('is internal for %s with status 500', async (of) => {
    const fresh = (await service.make.organization()).key
    await service.db.$executeRaw`ALTER TABLE tags RENAME TO hidden`
    const answer = await ask(of, { path: '/tags', key: fresh }).finally(
      () => service.db.$executeRaw`ALTER TABLE hidden RENAME TO tags`,
    )
    expect(answer).toEqual([500, 'internal'])
  })

  it.each(['v1', 'alternate'] as const)('is documented for %s with all its values', async (of) => {
    const { components } = await readDocument(service, of)
    const words = Object.values(components.responses).flatMap(
      ({ headers }) => (headers['X-Error-Code'] as { schema: { enum: string[] } } | undefined)?.schema.enum ?? [],
    )
    expect(new Set(words)).toEqual(new Set(documented[of]))
  })
})

const everywhere = [
  ...[
    'api_key_missing',
    'insufficient_scope',
    'network_not_allowed',
    'api_key_unknown',
    'api_key_expired',
    'api_key_revoked',
    'organization_suspended',
    'invalid',
    'malformed_request',
    'malformed_json',
    'forbidden_property',
  ],
  ...[
    'unsupported_media_type',
    'unsupported_encoding',
    'body_too_large',
    'request_timeout',
    'headers_too_large',
    'rate_limited',
    'overloaded',
    'database_busy',
    'database_away',
    'internal',
  ],
  ...[
    'assessment_not_found',
    'invite_not_found',
    'tag_not_found',
    'path_not_found',
    'duplicate_invite',
    'idempotency_key_reused',
    'too_many_searches',
  ],
]
const documented = {
  v1: [
    ...everywhere,
    'duplicate_tag_name',
    'live_tag_read_only',
    'move_not_allowed',
    'invite_declined',
    'too_many_mails',
    'cursor_gone',
    'submission_not_found',
    'result_not_released',
    'too_many_reports',
    'too_many_simulations',
    'too_many_imports',
    'too_many_uploads',
    'library_import_not_found',
    'too_many_batches',
    'too_many_erasures',
    'webhook_not_found',
    'delivery_not_found',
    'test_key_required',
    'live_key_required',
    'invite_batch_not_found',
    'manage_required',
    'admin_refused',
    'changed_meanwhile',
    'state_conflict',
    'member_not_found',
    'question_not_found',
    'suppression_not_found',
    'erasure_not_found',
    'media_not_found',
    'graders_missing',
    'session_refused',
    'too_many_webhooks',
    'webhook_disabled',
    'secret_rotated',
  ],
  alternate: [...everywhere, 'member_not_found', 'page_not_found', 'organization_forbidden'],
}

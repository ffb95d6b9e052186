import { expect, it } from 'vitest'
import { startServiceForFile } from '../../support/service.ts'

const service = await startServiceForFile()

const UNKNOWN = ['01900000-0000-7000-8000-000000000001', '01900000-0000-7000-8000-000000000002']
const json = { 'content-type': 'application/json' }
type Sent = {
  path?: string
  method?: 'get' | 'post' | 'patch'
  key?: 'test'
  body?: object | string
  headers?: Record<string, string>
}

it.each<[string, Sent, string | RegExp]>([
  ['a repeated parameter', { path: '/invites?status=pending&status=accepted' }, 'status must be sent once, not several times'],
  ['a repeated page', { path: '/tags?page=1&page=2' }, 'page must be sent once, not several times'],
  ['a batch of no invites', { path: '/invite-batches', body: { invites: [] } }, 'invites must have at least one item'],
  ['a script as returnUrl', { body: { returnUrl: 'javascript:alert(1)' } }, 'returnUrl must begin with https://'],
  [
    'a live webhook by a test key',
    { path: '/webhooks', key: 'test', body: { url: 'https://hr.example.com/', mode: 'live' } },
    'mode must be test, because this is a test key. Use a live key for live data',
  ],
  [
    'a test webhook by a live key',
    { path: '/webhooks', body: { url: 'https://hr.example.com/', mode: 'test' } },
    'mode must be one of live, all, because this is a live key. Use a test key for test data',
  ],
  [
    'a body in UTF-16',
    {
      body: Buffer.from('{"assessmentId":"x"}', 'utf16le').toString('latin1'),
      headers: { 'content-type': 'application/json; charset=utf-16le' },
    },
    'The request body is not valid JSON: it must be encoded in UTF-8, not in utf-16le',
  ],
  ['a body null', { body: 'null', headers: json }, 'The request body must be a JSON object'],
  [
    'a cursor from the future',
    { path: '/events?cursor=999999999999' },
    /^The feed of events has not reached this cursor: it is of another service/,
  ],
  ['unknown tags', { body: { tagIds: UNKNOWN } }, `tagIds must be of this organization: ${UNKNOWN.join(', ')} are not`],
  [
    'a change of externalId alone',
    { method: 'patch', path: '/invites/{id}', body: { externalId: 'x' } },
    /^At least one of recipientName, .* is required: externalId can't be changed by this request$/,
  ],
])('names the mistake in the message for %s', async (_mistake, sent, message) => {
  const { id, key } = await service.make.organization({ mode: sent.key ?? 'live' })
  const assessment = await service.make.assessment(id)
  const invite = await service.make.invite(assessment)
  const { path = '/invites', body, headers = {} } = sent
  const method = sent.method ?? (body === undefined ? 'get' : 'post')
  const known = { assessmentId: assessment.id, ...(path === '/invites' && { recipientEmail: 'sam@example.com' }) }
  const filled = typeof body === 'string' || path.includes('{id}') ? body : { ...known, ...body }
  const request = service.v1(key)[method](path.replace('{id}', invite.id)).set(headers)
  const answer = await (body === undefined ? request : request.send(filled))
  expect(answer.status).toBe(path.startsWith('/events') ? 410 : 400)
  expect(answer.body).toEqual({ error: typeof message === 'string' ? message : expect.stringMatching(message) })
})

it.each([
  ['v1', '/api/v1/tags', 'x-api-key', { error: 'API key is required' }],
  ['alternate', '/api/alternate/tags', 'x-service-docs-api-key', { detail: 'Authentication credentials were not provided.' }],
])(
  'answers a key in the wrong header of %s with the usual text and a help link, and logs the expected header',
  async (_name, path, expectedHeader, body) => {
    const answer = await service.http().get(path).set('authorization', 'Bearer ak_live_secret')
    expect([answer.status, answer.body]).toEqual([401, body])
    expect(answer.headers.link).toBe('</docs/guides/errors#api_key_missing>; rel="help"')
    const lines = service.logLines.filter((line) => line.includes(answer.headers['x-request-id']!))
    expect(lines.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ expectedHeader, sentHeaders: ['authorization'] }),
    )
    expect(lines.join()).not.toContain('secret')
    const page = await service.http().get('/docs/guides/errors')
    expect(page.text.includes(`id="api_key_missing"`)).toBe(true)
  },
)

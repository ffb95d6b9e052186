import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { unknownId } from '../../support/factories.ts'
import { type Service, startService, startServiceForTest } from '../../support/service.ts'

const PREFIX = '/api/alternate'
const notFound = { detail: 'Not found.' }

let service: Service
let address: string
let own: { id: string; key: string }
beforeAll(async () => {
  service = await startService()
  address = await service.app.listen({ port: 0, host: '127.0.0.1' })
  own = await service.make.organization()
})
afterAll(() => service.close())

/** Sends a request unchanged: supertest would normalize path, method, and headers. */
async function send(
  method: string,
  path: string,
  { body, headers = {} }: { body?: RequestInit['body']; headers?: Record<string, string> } = {},
) {
  const response = await fetch(`${address}${PREFIX}${path}`, {
    method,
    headers: { 'x-service-docs-api-key': own.key, ...headers },
    ...(body !== undefined && { body, duplex: 'half' }),
  } as RequestInit)
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) }
}

/** Body of unknown length that stalls after this many bytes: reading it to its end never finishes. */
const stalled = (bytes: number) =>
  new ReadableStream({ start: (stream) => stream.enqueue(new Uint8Array(bytes)), pull: () => new Promise(() => {}) })

const items = ['/assessments', '/assessment_invites', '/organization_users', '/tags']
const paths = (organizationId: string) => {
  const scoped = `/organizations/${organizationId}/assessment_invites`
  return [...items, ...items.map((path) => `${path}/${unknownId}`), scoped, `${scoped}/${unknownId}`]
}
const allowOf = (path: string) => (path.endsWith('/assessment_invites') ? 'GET, POST, HEAD, OPTIONS' : 'GET, HEAD, OPTIONS')

describe('the response for an unknown address', () => {
  const malformed = [
    'none',
    '1',
    `${unknownId}0`,
    unknownId.slice(1),
    `{${unknownId}}`,
    '%00',
    "'",
    'x'.repeat(200),
    'x'.repeat(2_000),
  ]

  it.each(items)('is the same 404 for an unknown, a foreign, and a malformed id in %s/{id}', async (path) => {
    const { id } = await service.make.organization()
    const assessment = await service.make.assessment(id)
    const foreign: Record<string, string> = {
      '/assessments': assessment.id,
      '/assessment_invites': (await service.make.invite(assessment)).id,
      '/organization_users': (await service.make.member(id)).id,
      '/tags': (await service.make.tag(id)).id,
    }
    for (const item of [unknownId, foreign[path]!])
      expect(await send('GET', `${path}/${item}`)).toMatchObject({ status: 404, body: notFound })
    expect(await send('GET', `${path}/${foreign[path]}?depth=2`)).toMatchObject({ status: 404, body: notFound })
  })

  it.each(malformed)('is 404 "Not found." for the malformed id %s', async (id) => {
    for (const path of [...items, `/organizations/${own.id}/assessment_invites`])
      expect(await send('GET', `${path}/${id}`)).toMatchObject({ status: 404, body: notFound })
  })

  it.each([
    '',
    '/',
    '/tag',
    '/Tags',
    '/tags/a/b',
    '/organizations',
    `/organizations/${unknownId}`,
    '/organizations/x/tags',
    '/members',
  ])('is 404 as JSON for the unknown path %j, for every method', async (path) => {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS']) {
      const { status, body, headers } = await send(method, path)
      expect([status, body, headers.get('content-type')]).toEqual([404, notFound, 'application/json; charset=utf-8'])
    }
  })

  it.each(['/tags/%zz', '/tags/%ff', '/%c0%80', '/organizations/%zz/assessment_invites'])(
    'is 400 in the envelope of this interface for the path %s, which cannot be decoded',
    async (path) => {
      expect(await send('GET', path)).toMatchObject({ status: 400, body: { detail: 'Malformed request.' } })
    },
  )
})

describe('the response 405', () => {
  it.each(paths('{own}'))('is sent for every other method on %s, with the allowed ones', async (template) => {
    const path = template.replace('{own}', own.id)
    const allow = allowOf(path)
    for (const method of ['PUT', 'PATCH', 'DELETE', ...(allow.includes('POST') ? [] : ['POST'])]) {
      const { status, body, headers } = await send(method, path)
      expect([status, body, headers.get('allow')]).toEqual([405, { detail: `Method "${method}" not allowed.` }, allow])
    }
  })

  it('is sent before the body is read, for any type, form, or size', async () => {
    for (const [type, body] of [
      ['application/json', '{"broken'],
      ['text/plain', 'x'],
      ['application/json', 'x'.repeat(100_000)],
      ['application/json', stalled(1)],
    ] as const) {
      const response = await send('PUT', '/tags', { body, headers: { 'content-type': type } })
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
    }
  })

  it('is sent for TRACE', async () => {
    const { statusCode, body, headers } = await service.app.inject({
      method: 'TRACE' as 'GET',
      url: `${PREFIX}/tags`,
      headers: { 'x-service-docs-api-key': own.key },
    })
    expect([statusCode, JSON.parse(body), headers.allow]).toEqual([
      405,
      { detail: 'Method "TRACE" not allowed.' },
      'GET, HEAD, OPTIONS',
    ])
  })
})

describe('the service', () => {
  it('answers HEAD with 200 and the headers of GET, without a body', async () => {
    const assessment = await service.make.assessment(own.id)
    const ids = {
      '/assessments': assessment.id,
      '/assessment_invites': (await service.make.invite(assessment)).id,
      '/organization_users': (await service.make.member(own.id)).id,
      '/tags': (await service.make.tag(own.id)).id,
    }
    const scope = `/organizations/${own.id}/assessment_invites`
    const each = [
      ...Object.entries(ids).flatMap(([path, id]) => [path, `${path}/${id}`]),
      scope,
      `${scope}/${ids['/assessment_invites']}`,
    ]
    for (const path of each.flatMap((path) => [path, `${path}?depth=2`])) {
      const [head, get] = [await send('HEAD', path), await send('GET', path)]
      expect([head.status, get.status, head.body]).toEqual([200, 200, null])
      for (const name of ['content-type', 'content-length']) expect(head.headers.get(name)).toBe(get.headers.get(name))
    }
    expect((await send('HEAD', `/tags/${unknownId}`)).status).toBe(404)
  })

  it.each(paths('{own}'))('answers OPTIONS on %s with 200 and the allowed methods', async (template) => {
    const path = template.replace('{own}', own.id)
    const { status, headers } = await send('OPTIONS', path)
    expect([status, headers.get('allow')]).toEqual([200, allowOf(path)])
  })
})

describe('the body of a POST', () => {
  it.each([
    'text/plain',
    'text/plain; charset=utf-8',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'application/merge-patch+json',
    'nonsense',
  ])('is rejected with 415 if it is %s', async (type) => {
    const { status, body } = await send('POST', '/assessment_invites', { body: '{}', headers: { 'content-type': type } })
    expect([status, body]).toEqual([415, { detail: `Unsupported media type "${type}" in request.` }])
  })

  it('is rejected with 415 if it has no type', async () => {
    const { status, body } = await send('POST', '/assessment_invites', { body: Buffer.from('{}') })
    expect([status, body]).toEqual([415, { detail: 'Unsupported media type "" in request.' }])
  })

  it('is rejected with 413 above 64 KiB, with or without an announced length', async () => {
    const headers = { 'content-type': 'application/json' }
    const bodyOf = (bytes: number) => `{"x":"${'x'.repeat(bytes - 8)}"}`
    expect((await send('POST', '/assessment_invites', { body: bodyOf(65_536), headers })).status).toBe(400)
    for (const body of [bodyOf(65_537), stalled(65_537)]) {
      const response = await send('POST', '/assessment_invites', { body, headers })
      expect([response.status, response.body]).toEqual([413, { detail: 'Request body too large.' }])
    }
  })
})

describe('the response 429', () => {
  it('contains the waiting time in words and in Retry-After, and precedes every other check', async () => {
    const limited = await startServiceForTest({ RATE_LIMIT_STANDARD: '3' })
    const { key } = await limited.make.organization()
    const client = limited.alternate(key)
    for (const path of ['/tags', '/no-such-path', '/tags?page=0']) expect((await client.get(path)).status).not.toBe(429)
    for (const request of [
      client.get('/tags'),
      client.get('/no-such-path'),
      client.put('/tags'),
      client.post('/assessment_invites').send('x'),
    ]) {
      const { status, body, headers } = await request
      const seconds = Number(headers['retry-after'])
      expect([status, body]).toEqual([429, { detail: `Request was throttled. Expected available in ${seconds} seconds.` }])
      expect(seconds).toBeGreaterThanOrEqual(1)
      expect(seconds).toBeLessThanOrEqual(60)
    }
    // Both interfaces share one request count.
    expect((await limited.v1(key).get('/tags')).status).toBe(429)
    expect((await limited.alternate((await limited.make.organization()).key).get('/tags')).status).toBe(200)
  })
})

describe('the response 500', () => {
  it('contains no details of the failure, which is logged', async () => {
    const broken = await startServiceForTest()
    const { key } = await broken.make.organization()
    await broken.db.$executeRaw`ALTER TABLE tags RENAME TO tags_elsewhere`
    const { status, body, headers } = await broken.alternate(key).get('/tags')
    expect([status, body, headers['content-type']]).toEqual([
      500,
      { detail: 'Internal server error' },
      'application/json; charset=utf-8',
    ])
    expect(broken.logLines.filter((line) => line.includes('request failed')).join()).toContain('tags')
  })
})

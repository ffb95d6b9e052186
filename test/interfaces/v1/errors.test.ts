import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Service, startService } from '../../support/service.ts'

let service: Service
let address: string
let key: string
beforeAll(async () => {
  service = await startService()
  address = await service.app.listen({ port: 0, host: '127.0.0.1' })
  key = (await service.make.organization()).key
})
afterAll(() => service.close())

/** Sends a request byte for byte: supertest would normalize it. */
async function send(
  method: string,
  path: string,
  { body, headers = {} }: { body?: RequestInit['body']; headers?: Record<string, string> } = {},
) {
  const response = await fetch(`${address}/api/v1${path}`, {
    method,
    headers: { 'x-api-key': key, ...headers },
    ...(body !== undefined && { body, duplex: 'half' }),
  })
  const answer = (await response.json()) as Record<string, unknown>
  return { status: response.status, body: answer, type: response.headers.get('content-type') }
}
const json = { 'content-type': 'application/json' }

it.each([
  ['GET', '/nowhere'],
  ['GET', ''],
  ['GET', '/'],
  ['GET', '/tag'],
  ['GET', '/Tags'],
  ['PUT', '/tags'],
  ['DELETE', '/tags'],
  ['POST', '/members/nobody'],
  ['OPTIONS', '/tags'],
])('answers 404 "Not found" to %s %s, an unknown endpoint', async (method, path) => {
  expect(await send(method, path)).toMatchObject({
    status: 404,
    body: { error: 'Not found' },
    type: 'application/json; charset=utf-8',
  })
})

it.each(['/tags/%', '/tags/%zz', '/tags/%ff', '/%c0%80'])('answers 400 to the path %s, which cannot be decoded', async (path) => {
  expect(await send('GET', path)).toMatchObject({ status: 400, body: { error: 'The request is malformed' } })
})

it.each([
  ['cut off', '{"name": "a'],
  ['that is not JSON', 'name=a'],
  ['followed by something', '{"name":"a"} x'],
  ['in single quotes', "{'name':'a'}"],
])('answers 400 to a body %s', async (_name, body) => {
  const answer = await send('POST', '/tags', { body, headers: json })
  expect(answer).toEqual({
    status: 400,
    body: { error: expect.stringMatching(/^The request body is not valid JSON: ./) },
    type: expect.any(String),
  })
})

it('answers 400 to a body that is not UTF-8, instead of repairing it', async () => {
  const body = Buffer.from('{"name":"a\xc3\x28"}', 'latin1')
  const answer = await send('POST', '/tags', { body, headers: json })
  expect(answer).toMatchObject({
    status: 400,
    body: { error: expect.stringMatching(/^The request body is not valid JSON: .*UTF-?8/i) },
  })
})

it.each([
  '{"name":"a","__proto__":{"color":"#000000"}}',
  '{"name":"a","constructor":{"prototype":{"x":1}}}',
  '{"name":"a","x":{"__proto__":1}}',
])('answers 400 to %s, which names a prototype', async (body) => {
  const answer = await send('POST', '/tags', { body, headers: json })
  const error = expect.stringMatching(/^The request body contains forbidden prototype property names: __proto__/)
  expect(answer).toMatchObject({ status: 400, body: { error } })
  expect(Object.keys(answer.body)).toEqual(['error'])
})

it.each([
  ['text/plain', { 'content-type': 'text/plain' }],
  ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
  ['XML', { 'content-type': 'application/xml' }],
  ['merge patch', { 'content-type': 'application/merge-patch+json' }],
  ['no content type', {}],
  ['nonsense', { 'content-type': ';;;' }],
] as [string, Record<string, string>][])('answers 400 to a body sent as %s', async (_name, headers) => {
  for (const [method, path] of [
    ['POST', '/tags'],
    ['POST', '/invites'],
    ['PATCH', '/tags/01900000-0000-7000-8000-000000000000'],
  ] as const) {
    expect(await send(method, path, { body: Buffer.from('{"name":"a"}'), headers })).toMatchObject({
      status: 400,
      body: { error: 'The request body must be JSON, with the header Content-Type: application/json' },
    })
  }
})

it.each(['application/json; charset=utf-8', 'Application/JSON', 'application/json;charset="utf-8"'])(
  'accepts a body sent as %s',
  async (type) => {
    expect(
      (await send('POST', '/tags', { body: JSON.stringify({ name: type }), headers: { 'content-type': type } })).status,
    ).toBe(201)
  },
)

it.each(['null', '[]', '"text"', '5', 'true'])('answers 400 to the body %s, not an object', async (body) => {
  for (const path of ['/tags', '/invites']) {
    const answer = await send('POST', path, { body, headers: json })
    expect(answer.status).toBe(400)
    expect(Object.keys(answer.body)).toEqual(['error'])
  }
})

it.each(['/tags', '/invites'])('treats an empty body of POST %s as an object without fields', async (path) => {
  const [nothing, empty, object] = [
    await send('POST', path),
    await send('POST', path, { body: '', headers: json }),
    await send('POST', path, { body: '{}', headers: json }),
  ]
  expect(object.status).toBe(400)
  expect([nothing, empty]).toEqual([object, object])
})

describe('a request body', () => {
  const bodyOf = (size: number) => JSON.stringify({ name: 'a', padding: 'x'.repeat(size - '{"name":"a","padding":""}'.length) })
  const tooLarge = { status: 413, body: { error: 'The request body must not be larger than 64 KiB' } }

  it('is accepted with 64 KiB', async () => {
    expect((await send('POST', '/tags', { body: bodyOf(64 * 1024), headers: json })).status).toBe(201)
  })

  it('is rejected with 413 if it has one byte more', async () => {
    expect(await send('POST', '/tags', { body: bodyOf(64 * 1024 + 1), headers: json })).toMatchObject(tooLarge)
    expect(await send('POST', '/invites', { body: bodyOf(64 * 1024 + 1), headers: json })).toMatchObject(tooLarge)
  })

  it('is rejected with 413 if it has one byte more without an announced length', async () => {
    const stream = new Blob([bodyOf(64 * 1024 + 1)]).stream()
    expect(await send('POST', '/tags', { body: stream, headers: json })).toMatchObject(tooLarge)
  })
})

describe('a failure of the service', () => {
  it.each(['tags', 'api_keys'])(
    'answers 500 with the documented text if the table %s is missing, and reveals the cause only in the log',
    async (table) => {
      // This key is not cached, so the service has to query it.
      const fresh = { 'x-api-key': (await service.make.organization()).key }
      const logged = service.logLines.length
      await service.db.$executeRawUnsafe(`ALTER TABLE ${table} RENAME TO hidden`)
      try {
        const [list, creation] = [
          await send('GET', '/tags', { headers: fresh }),
          await send('POST', '/tags', { body: '{"name":"Unlucky"}', headers: { ...json, ...fresh } }),
        ]
        expect(list).toEqual({ status: 500, body: { error: 'Internal server error' }, type: 'application/json; charset=utf-8' })
        expect(creation).toEqual(list)
      } finally {
        await service.db.$executeRawUnsafe(`ALTER TABLE hidden RENAME TO ${table}`)
      }
      const errors = service.logLines.slice(logged).filter((line) => JSON.parse(line).level >= 50)
      expect(errors).toHaveLength(2)
      for (const line of errors) {
        expect(line).toContain(table)
        expect(line).not.toContain(fresh['x-api-key'].slice('ak_live_'.length))
      }
      expect((await send('GET', '/tags', { headers: fresh })).status).toBe(200)
    },
  )

  it('creates no invite if its mail cannot be queued', async () => {
    const { id: organizationId, key } = await service.make.organization()
    const { id: assessmentId } = await service.make.assessment(organizationId)
    const invite = () => service.v1(key).post('/invites').send({ assessmentId, recipientEmail: 'candidate@example.com' })
    await service.db.$executeRaw`ALTER TABLE pgboss.queue RENAME TO hidden`
    const failed = await invite()
    await service.db.$executeRaw`ALTER TABLE pgboss.hidden RENAME TO queue`
    expect([failed.status, failed.body]).toEqual([500, { error: 'Internal server error' }])
    expect(await service.db.invite.count({ where: { organizationId } })).toBe(0)
    expect((await invite()).status).toBe(201)
  })
})

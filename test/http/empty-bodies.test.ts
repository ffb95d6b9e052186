import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { converse } from '../support/raw-http.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let port: number
beforeAll(async () => {
  service = await startService()
  await service.app.listen({ port: 0, host: '127.0.0.1' })
  port = (service.app.server.address() as AddressInfo).port
})
afterAll(() => service.close())
let by: Awaited<ReturnType<typeof createInvites>>
beforeEach(async () => {
  by = await createInvites()
})

async function createInvites() {
  const { id, key } = await service.make.organization()
  const assessment = await service.make.assessment(id)
  const [pending, revoked] = [await service.make.invite(assessment), await service.make.invite(assessment, { status: 'revoked' })]
  return { key, pending, revoked, tag: await service.make.tag(id) }
}

const FORM = 'Content-Type: application/x-www-form-urlencoded'
/** Requests of clients without a body. The first is axios.post(url). */
const empty: [what: string, headers: string[], body: string][] = [
  ['a form of length 0', [FORM, 'Content-Length: 0'], ''],
  ['a form without a length', [FORM], ''],
  ['text of length 0', ['Content-Type: text/plain;charset=UTF-8', 'Content-Length: 0'], ''],
  ['an invalid type', ['Content-Type: nonsense', 'Content-Length: 0'], ''],
  ['JSON of length 0', ['Content-Type: application/json', 'Content-Length: 0'], ''],
  ['no type', ['Content-Length: 0'], ''],
  ['an empty chunked form', [FORM, 'Transfer-Encoding: chunked'], '0\r\n\r\n'],
  ['empty chunked JSON', ['Content-Type: application/json', 'Transfer-Encoding: chunked'], '0\r\n\r\n'],
  ['an empty chunked body without a type', ['Transfer-Encoding: chunked'], '0\r\n\r\n'],
]

/** Sends a request on a new connection. A second request after it proves that the first one was read completely. */
async function send(method: string, path: string, headers: string[], body: string): Promise<{ status: number; json: unknown }> {
  const keys = `X-Api-Key: ${by.key}\r\nX-Service-Docs-Api-Key: ${by.key}`
  const request = `${method} ${path} HTTP/1.1\r\nHost: a\r\n${keys}\r\n${headers.map((line) => `${line}\r\n`).join('')}\r\n${body}`
  const { answers } = await converse(port, [request, 'GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'])
  expect(answers.map(({ status }) => status)).toEqual([expect.any(Number), 200])
  return { status: answers[0]!.status, json: JSON.parse(answers[0]!.body) }
}

describe.each(empty)('an empty body (%s)', (_what, headers, body) => {
  it.each(['resend', 'revoke'])('is accepted by POST /invites/{id}/%s', async (operation) => {
    const { status } = await send('POST', `/api/v1/invites/${by.pending.id}/${operation}`, headers, body)
    expect(status).toBe(200)
  })

  it('is accepted by POST /invites/{id}/reactivate', async () => {
    const { status, json } = await send('POST', `/api/v1/invites/${by.revoked.id}/reactivate`, headers, body)
    expect([status, json]).toMatchObject([200, { invite: { status: 'pending' } }])
  })

  it('is accepted by DELETE /tags/{id}', async () => {
    expect((await send('DELETE', `/api/v1/tags/${by.tag.id}`, headers, body)).status).toBe(200)
  })

  it('is rejected by a POST with required fields, in both interfaces, naming the fields', async () => {
    const { status, json } = await send('POST', '/api/v1/invites', headers, body)
    expect([status, json]).toEqual([400, { error: 'assessmentId is required' }])
    const alternate = await send('POST', '/api/alternate/assessment_invites', headers, body)
    expect([alternate.status, alternate.json]).toMatchObject([400, { email: ['This field is required.'] }])
  })
})

describe('a non-empty body', () => {
  const bodies: [what: string, headers: string[], body: string][] = [
    ['a form', [FORM, 'Content-Length: 3'], 'a=b'],
    ['a form in chunks', [FORM, 'Transfer-Encoding: chunked'], '3\r\na=b\r\n0\r\n\r\n'],
    ['chunks without a type', ['Transfer-Encoding: chunked'], '2\r\n{}\r\n0\r\n\r\n'],
    ['a form in many chunks', [FORM, 'Transfer-Encoding: chunked'], `${`1000\r\n${'x'.repeat(4_096)}\r\n`.repeat(50)}0\r\n\r\n`],
  ]
  it.each(bodies)('is rejected without the JSON type: %s', async (_what, headers, body) => {
    const v1 = await send('POST', `/api/v1/invites/${by.pending.id}/revoke`, headers, body)
    expect([v1.status, v1.json]).toEqual([
      400,
      { error: 'The request body must be JSON, with the header Content-Type: application/json' },
    ])
    const alternate = await send('POST', '/api/alternate/assessment_invites', headers, body)
    const type = headers[0] === FORM ? 'application/x-www-form-urlencoded' : ''
    expect([alternate.status, alternate.json]).toEqual([415, { detail: `Unsupported media type "${type}" in request.` }])
  })

  it('is accepted as JSON in chunks', async () => {
    const chunked = ['Content-Type: application/json', 'Transfer-Encoding: chunked']
    const { status } = await send('POST', '/api/v1/tags', chunked, '8\r\n{"name":\r\n6\r\n "In"}\r\n0\r\n\r\n')
    expect(status).toBe(201)
  })
})

it('ignores the body of a GET', async () => {
  const chunked = await send('GET', '/api/v1/tags', [FORM, 'Transfer-Encoding: chunked'], '3\r\na=b\r\n0\r\n\r\n')
  const whole = await send('GET', '/api/v1/tags', [FORM, 'Content-Length: 3'], 'a=b')
  expect([chunked.status, whole.status]).toEqual([200, 200])
})

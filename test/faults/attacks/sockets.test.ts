import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { converse, type RawAnswer } from '../../support/raw-http.ts'
import { scaled } from '../../support/scale.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
let port: number
let key: string
beforeAll(async () => {
  service = await startService()
  await service.app.listen({ port: 0, host: '127.0.0.1' })
  port = (service.app.server.address() as AddressInfo).port
  key = (await service.make.organization()).key
})
afterAll(() => service.close())

/** Joins a request line and headers with the line ends of HTTP. */
const head = (...lines: string[]) => `${lines.join('\r\n')}\r\n\r\n`
const keys = () => [`X-Api-Key: ${key}`, `X-Service-Docs-Api-Key: ${key}`]

/** The error format for each beginning of a path. */
const envelopes: [path: string, expectEnvelope: (answer: RawAnswer) => void][] = [
  ['/api/v1/tags', (answer) => expectJson(answer, 'error')],
  ['/api/alternate/tags', (answer) => expectJson(answer, 'detail')],
  ['/i/x', expectHtml],
  ['/nowhere', (answer) => expectJson(answer, 'error')],
]
function expectJson({ headers, body }: RawAnswer, member: string) {
  expect(headers['content-type']).toBe('application/json; charset=utf-8')
  expect(JSON.parse(body)).toEqual({ [member]: expect.stringMatching(/\S/) })
}
function expectHtml({ headers, body }: RawAnswer) {
  expect(headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' })
  expect(headers['content-security-policy']).toContain("default-src 'none'")
  expect(body).toMatch(/^<!doctype html>/i)
}

/** Lines after the request line that make the request invalid. */
const broken: [what: string, lines: string[], status: number][] = [
  ['a space in the name of a header', ['X-A : b'], 400],
  ['a header without a colon', ['nonsense'], 400],
  ['a line feed alone between headers', ['X-A: b\nX-B: c'], 400],
  ['a carriage return alone in a header', ['X-A: b\rX-B: c'], 400],
  ['a NUL in a header', ['X-A: b\0c'], 400],
  ['a header continued on the next line', ['X-A: b', ' c'], 400],
  ["a length that isn't a number", ['Content-Length: x'], 400],
  ['a negative length', ['Content-Length: -1'], 400],
  ['a length with a sign', ['Content-Length: +5'], 400],
  ['an endless length', [`Content-Length: ${'9'.repeat(400)}`], 400],
  ['20 KB in one header', [`X-A: ${'b'.repeat(20_000)}`], 431],
  ['20 KB in many headers', Array.from({ length: 1_000 }, (_, i) => `X-${i}: ${'b'.repeat(15)}`), 431],
]

describe.each(envelopes)('a request below %s', (path, expectEnvelope) => {
  it.each(broken)(
    'gets an error in the format of its path if it has %s, and its connection is closed',
    async (_what, lines, status) => {
      const { answers, closed } = await converse(port, head(`GET ${path} HTTP/1.1`, 'Host: a', ...keys(), ...lines))
      expect([answers.map((answer) => answer.status), closed]).toEqual([[status], true])
      expect(answers[0]!.headers.connection).toBe('close')
      expectEnvelope(answers[0]!)
    },
  )

  it.each([
    ['100 KB', 'a'.repeat(100_000), 431],
    ['a NUL', '\0', 400],
    ['a space', ' b', 400],
  ])("gets an error in the format of the path's beginning if its path contains %s", async (_what, text, status) => {
    const { answers, closed } = await converse(port, head(`GET ${path}/${text} HTTP/1.1`, 'Host: a', ...keys()))
    expect([answers.map((answer) => answer.status), closed]).toEqual([[status], true])
    expectEnvelope(answers[0]!)
  })

  it.each([
    '%00',
    '%2e%2e',
    '%2e%2e%2f%2e%2e%2fetc%2fpasswd',
    '..;/',
    '%',
    '%zz',
    '%c0%af',
    '%ff',
    '%ed%a0%80',
    '%u0041',
    '%0d%0aX:%20y',
  ])('gets a 4xx response in that format if its path contains %s', async (text) => {
    const { answers } = await converse(port, head(`GET ${path}/${text} HTTP/1.1`, 'Host: a', ...keys(), 'Connection: close'))
    expect(answers.map(({ status }) => status)).toEqual([expect.toBeOneOf([400, 404])])
    expectEnvelope(answers[0]!)
  })
})

it.each([
  ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n'],
  ['TLS', Buffer.from('16030100a5010000a10303', 'hex')],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['an unknown method', head('BREW /api/v1/tags HTTP/1.1', 'Host: a')],
  ['an unknown version', head('GET /api/v1/tags HTTP/3.7', 'Host: a')],
  ['SMTP', 'EHLO a\r\nMAIL FROM:<a@example.com>\r\n'],
  ['NULs', Buffer.alloc(100)],
])('answers %s on the socket with one 400, and closes the connection', async (_what, bytes) => {
  const { answers, closed } = await converse(port, bytes)
  expect([answers.map(({ status }) => status), closed]).toEqual([[400], true])
  expectJson(answers[0]!, 'error')
})

it('closes connections that send random bytes, and continues to serve', async () => {
  Object.assign(service.app.server, { headersTimeout: 1_000, requestTimeout: 1_500 }) // for random bytes that begin like a request
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 2_000 }).map((array) => Buffer.from(array))
  const almostRequest = bytes.map((noise) =>
    Buffer.concat([Buffer.from('POST /api/v1/tags HTTP/1.1\r\nConnection: close\r\n'), noise, Buffer.from('\r\n\r\n')]),
  )
  const noise = fc.sample(fc.oneof(bytes, almostRequest), { numRuns: scaled(200, 5_000), seed: 1 })
  for (let i = 0; i < noise.length; i += 100) {
    const talks = await Promise.all(noise.slice(i, i + 100).map((bytes) => converse(port, bytes)))
    for (const { answers, closed } of talks) {
      expect(closed).toBe(true)
      expect(answers.length).toBeLessThanOrEqual(1)
      for (const { status } of answers) expect(status).toBeOneOf([400, 401, 404, 408, 431])
    }
  }
  expect((await service.v1(key).get('/tags')).status).toBe(200)
})

it('closes the connection after a malformed request, even if the client sends nothing more', async () => {
  const { answers, closed } = await converse(port, 'nonsense\r\n\r\n')
  expect([answers.length, closed]).toEqual([1, true])
  const open = await new Promise<number>((resolve) => service.app.server.getConnections((_error, count) => resolve(count)))
  expect(open).toBeLessThan(5)
})

it('ignores an unknown Expect header', async () => {
  const { answers } = await converse(port, head('GET /api/v1/tags HTTP/1.1', 'Host: a', 'Expect: a-miracle', 'Connection: close'))
  expect(answers).toMatchObject([{ status: 401, body: '{"error":"API key is required"}' }])
})

it.each(['CONNECT a:25 HTTP/1.1', 'CONNECT /api/v1/tags HTTP/1.1'])('refuses to be a proxy: %s', async (line) => {
  const { answers, closed } = await converse(port, head(line, 'Host: a', ...keys()))
  expect([answers.filter(({ status }) => status < 400), closed]).toEqual([[], true])
})

it('ignores a protocol upgrade', async () => {
  const lines = ['Host: a', ...keys(), 'Upgrade: websocket', 'Connection: upgrade, close', 'Sec-WebSocket-Key: x']
  const { answers } = await converse(port, head('GET /api/v1/tags HTTP/1.1', ...lines))
  expect(answers.map(({ status }) => status)).toEqual([200])
})

import { once } from 'node:events'
import net, { type AddressInfo, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { readAnswers } from '../../support/raw-http.ts'
import { LONG, scaled } from '../../support/scale.ts'
import { type Service, startService } from '../../support/service.ts'
import { PATIENT } from '../../support/wait-until.ts'

const SOCKETS = scaled(500, 1_500)

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

it('allows 10 seconds for the headers of a request, 15 for all of it, and 30 for an idle connection', () => {
  const { headersTimeout, requestTimeout, timeout } = service.app.server
  expect([headersTimeout, requestTimeout, timeout]).toEqual([10_000, 15_000, 30_000])
})

/** Shortens the server's timeouts until the test ends, except in the long run. The interval between checks of connections stays the same. */
function shortenTimeouts(limits: { headersTimeout?: number; requestTimeout?: number; timeout?: number }): void {
  if (LONG) return
  const { headersTimeout, requestTimeout, timeout } = service.app.server
  onTestFinished(() => void Object.assign(service.app.server, { headersTimeout, requestTimeout, timeout }))
  Object.assign(service.app.server, limits)
}

const post = (path: string) =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nX-Api-Key: ${key}\r\nX-Service-Docs-Api-Key: ${key}\r\nContent-Type: application/json\r\n`
const LENGTH = 'Content-Length: 1000\r\n\r\n{'

/** First bytes of each kind of client, and the bytes that it repeats. */
const kinds: [what: string, first: () => string, then: string][] = [
  ['nothing at all', () => '', ''],
  ['a request line, a byte at a time', () => 'GET /api/v1/', 'a'],
  ['headers, one at a time', () => 'GET /api/v1/tags HTTP/1.1\r\n', 'X-A: b\r\n'],
  ['a body of v1, a byte at a time', () => post('/api/v1/tags') + LENGTH, ' '],
  ['a body of the alternate interface, a byte at a time', () => post('/api/alternate/assessment_invites') + LENGTH, ' '],
  ['chunks, one byte each', () => `${post('/api/v1/tags')}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`, '1\r\n \r\n'],
  [
    'a form of a candidate, and then no more',
    () => `POST /i/x/accept HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\n${LENGTH}`,
    '',
  ],
  ['empty lines', () => '\r\n', '\r\n'],
]

type SlowClient = { what: string; closed: Promise<void>; received: () => Buffer; stop: () => void }

function connect(what: string, first: string, then: string): SlowClient {
  const socket: Socket = net.connect({ port, host: '127.0.0.1' })
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  socket.on('error', () => {}) // the server closes the connection during a write, as expected
  socket.write(first)
  const drip = setInterval(() => socket.writable && then && socket.write(then), 250)
  const closed = once(socket, 'close').then(() => clearInterval(drip))
  return { what, closed, received: () => Buffer.concat(chunks), stop: () => socket.destroy() }
}

it(`closes ${SOCKETS} slow connections of several kinds, and serves others meanwhile`, async () => {
  shortenTimeouts({ headersTimeout: 1_000, requestTimeout: 1_500 })
  const clients = Array.from({ length: SOCKETS }, (_, i) => {
    const [what, first, then] = kinds[i % kinds.length]!
    return connect(what, first(), then)
  })
  let open = true
  const closed = Promise.all(clients.map((client) => client.closed)).then(() => {
    open = false
  })
  let served = 0
  while (open) {
    const answers = [await service.v1(key).get('/tags'), await service.alternate(key).get('/tags')]
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    served++
    if (open) await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, 50))])
  }
  expect(served).toBeGreaterThan(5)
  for (const { what, received } of clients) {
    const answers = readAnswers(received()).map(({ status }) => status)
    expect([what, answers]).toEqual([what, [expect.toBeOneOf([400, 401, 404, 408])]])
  }
})

/** Opens connections that send requests and read no responses until the server closes them. */
function connectGreedy(count: number, ask: () => string): Socket[] {
  return Array.from({ length: count }, () => {
    const socket = net.connect({ port, host: '127.0.0.1' }).pause()
    socket.on('error', () => {})
    return socket.once('connect', () => socket.write(ask()))
  })
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`
const greedy: [what: string, ask: () => string][] = [
  ['a thousand documents at once', () => get('/docs/v1/openapi.json').repeat(1_000)],
  ['a thousand lists at once', () => `${get('/api/v1/tags').replace('Host', `X-Api-Key: ${key}\r\nHost`)}`.repeat(1_000)],
  ['a few megabytes', () => get('/docs/v1/invites').repeat(200)],
]

it.each(greedy)('closes connections that request %s and read nothing, and serves others meanwhile', async (_what, ask) => {
  shortenTimeouts({ timeout: 6_000 }) // long enough for other clients
  const { server } = service.app
  const accepted: Socket[] = []
  const keep = (socket: Socket) => void accepted.push(socket)
  server.on('connection', keep)
  const clients = connectGreedy(scaled(30, 60), ask)
  await vi.waitFor(() => expect(accepted.length).toBeGreaterThanOrEqual(clients.length), PATIENT)
  server.off('connection', keep)
  const ended = Promise.all(accepted.map((socket) => socket.destroyed || once(socket, 'close'))).then(() => 'ended')
  let state: unknown
  while (state !== 'ended') {
    expect((await service.v1(key).get('/tags')).status).toBe(200)
    state = await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 50))])
  }
  for (const socket of clients) socket.destroy()
})

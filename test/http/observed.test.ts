import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { converse } from '../support/raw-http.ts'
import { type Service, startService } from '../support/service.ts'
import { waitUntil } from '../support/wait-until.ts'

let service: Service
let port: number
beforeAll(async () => {
  service = await startService()
  await service.app.listen({ port: 0, host: '127.0.0.1' })
  port = (service.app.server.address() as AddressInfo).port
})
afterAll(() => service.close())
beforeEach(() => {
  service.logLines.length = 0
})

const logged = () => service.logLines.map((line) => JSON.parse(line))
const counted = async (series: string) => {
  const lines = (await service.metrics.registry.metrics()).split('\n')
  return Number(lines.find((line) => line.startsWith(`${series} `))?.split(' ')[1] ?? 0)
}

describe('a malformed request', () => {
  const SECRET = 'secret-path'
  const unreadable: [what: string, bytes: string | Buffer, status: number, code: string][] = [
    ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n', 400, 'HPE_INVALID_METHOD'],
    ['TLS', Buffer.from('16030100a5010000a10303', 'hex'), 400, 'HPE_INVALID_METHOD'],
    ['a header without a colon', `GET /api/v1/${SECRET} HTTP/1.1\r\nnonsense\r\n\r\n`, 400, 'HPE_INVALID_HEADER_TOKEN'],
    ['headers too large', `GET /i/${SECRET} HTTP/1.1\r\nX-A: ${'b'.repeat(20_000)}\r\n\r\n`, 431, 'HPE_HEADER_OVERFLOW'],
  ]

  it.each(unreadable)('is logged without its content, and counted: %s', async (_what, bytes, status, code) => {
    const series = `http_unreadable_requests_total{status="${status}"}`
    const before = await counted(series)
    expect((await converse(port, bytes)).answers.map((answer) => answer.status)).toEqual([status])
    expect(logged()).toEqual([expect.objectContaining({ level: 30, msg: 'unreadable request', status, code })])
    expect(service.logLines.join()).not.toContain(SECRET)
    expect(await counted(series)).toBe(before + 1)
  })

  it("isn't counted for data after a closing response, or for an empty connection", async () => {
    const { answers } = await converse(port, 'GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    expect(answers.map(({ status }) => status)).toEqual([200])
    await converse(port, '', { patience: 100 })
    expect(logged()).toEqual([])
  })
})

it('counts a request with an invalid path', async () => {
  const series = 'http_request_duration_seconds_count{method="GET",route="none",status="400"}'
  const before = await counted(series)
  expect((await service.http().get('/api/v1/%zz')).status).toBe(400)
  await waitUntil('the count', async () => (await counted(series)) === before + 1 || undefined)
})

it('logs health checks at level debug, and counts them as requests', async () => {
  const series = 'http_request_duration_seconds_count{method="GET",route="/healthz",status="200"}'
  const before = await counted(series)
  for (const path of ['/healthz', '/readyz', '/healthz?x=1']) expect((await service.http().get(path)).status).toBe(200)
  await waitUntil('the count', async () => (await counted(series)) === before + 2 || undefined)
  expect(logged()).toEqual([])

  const { log } = service.deps
  const level = (name: string) => Object.assign(log, { level: name })
  level('debug')
  await service.http().get('/readyz').set('X-Request-Id', 'of-readiness')
  await waitUntil('the line', () => logged().find(({ reqId }) => reqId === 'of-readiness'))
  level('info')
  const line = logged().find(({ reqId }) => reqId === 'of-readiness')
  expect(line).toMatchObject({ level: 20, msg: 'request', method: 'GET', route: '/readyz', status: 200 })
})

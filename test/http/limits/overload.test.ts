import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { type Service, startService } from '../../support/service.ts'
import { itSlow } from '../../support/slow.ts'
import { waitUntil } from '../../support/wait-until.ts'

const MAX_WAIT_MS = 300

let service: Service
let url: string
let key: string
beforeAll(async () => {
  service = await startService({ MAX_REQUEST_WAIT: String(MAX_WAIT_MS) })
  url = await service.app.listen({ port: 0, host: '127.0.0.1' })
  key = (await service.make.organization()).key
})
afterAll(() => service.close())

/** Blocks the process, client and service alike, as other load on the machine or the start would. */
const blockEventLoop = (ms: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

const ask = async (path = '/api/v1/tags') => {
  const answer = await fetch(url + path, { headers: { 'x-api-key': key } })
  await answer.arrayBuffer()
  return { status: answer.status, retryAfter: answer.headers.get('retry-after') }
}
const statusOf = async (path?: string) => (await ask(path)).status

/** Locks the table of tags, so that requests for tags wait. @returns a function that releases it. */
async function lockTags(): Promise<() => Promise<void>> {
  let letGo = () => {}
  const held = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const locked = Promise.withResolvers<void>()
  const over = service.db.$transaction(
    async (tx) => {
      await tx.$executeRaw`LOCK TABLE tags IN ACCESS EXCLUSIVE MODE`
      locked.resolve()
      await held
    },
    { timeout: 60_000 },
  )
  await locked.promise
  const end = async () => {
    letGo()
    await over
  }
  onTestFinished(end)
  return end
}

itSlow('serves a client that sends one request at a time, even if the process is blocked in between', async () => {
  for (let i = 0; i < 3; i++) {
    blockEventLoop(1_500)
    expect(await statusOf()).toBe(200)
    const underWay = statusOf()
    setImmediate(blockEventLoop, 1_500)
    expect(await underWay).toBe(200)
    expect(await statusOf()).toBe(200)
  }
})

it('serves a few clients with slow requests', async () => {
  const goOn = await lockTags()
  const slow = Array.from({ length: 20 }, () => statusOf())
  await sleep(2 * MAX_WAIT_MS)
  expect(await statusOf('/api/v1/nowhere')).toBe(404)
  await goOn()
  expect(new Set(await Promise.all(slow))).toEqual(new Set([200]))
})

itSlow('answers 503 with Retry-After while hundreds of requests wait too long, and recovers afterwards', async () => {
  const goOn = await lockTags()
  const queue = Array.from({ length: 200 }, () => statusOf())
  const refused = await waitUntil('a request to be refused', async () => {
    const answer = await ask('/api/v1/nowhere')
    return answer.status === 503 ? answer : undefined
  })
  expect(refused.retryAfter).toMatch(/^\d+$/)
  expect(await statusOf('/healthz')).toBe(200)
  const readiness = ask('/readyz')
  await goOn()
  // Readiness may fail because of the database, but not because of overload.
  expect((await readiness).retryAfter).toBeNull()
  const counts = Object.groupBy(await Promise.all(queue), (status) => status)
  expect(counts[200]!.length).toBeGreaterThanOrEqual(100)
  expect(counts[200]!.length + (counts[503]?.length ?? 0)).toBe(200)
  expect(await Promise.all(Array.from({ length: 50 }, () => statusOf()))).toEqual(Array(50).fill(200))
})

it("serves other clients while one client's requests wait too long", async () => {
  const goOn = await lockTags()
  const queue = Array.from({ length: 200 }, () => statusOf())
  await waitUntil('a request to be refused', async () => (await ask('/api/v1/nowhere')).status === 503 || undefined)
  expect((await fetch(`${url}/i/some-token`)).status).toBe(404)
  expect((await fetch(`${url}/portal/sign-in`)).status).toBe(200)
  await goOn()
  await Promise.all(queue)
})

it('ignores requests whose bodies arrive slowly', async () => {
  const { port } = service.app.server.address() as AddressInfo
  const sockets = Array.from({ length: 150 }, () => connect(port, '127.0.0.1'))
  onTestFinished(() => sockets.forEach((socket) => void socket.destroy()))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  const head = `POST /api/v1/tags HTTP/1.1\r\nHost: a\r\nX-Api-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`
  for (const socket of sockets) socket.write(head)
  await sleep(2 * MAX_WAIT_MS)
  expect(await statusOf()).toBe(200)
})

import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { readAllowance } from '../../src/domain/webhooks/targets.ts'
import { createFetch } from '../../src/sso/fetch.ts'

afterEach(() => void vi.useRealTimers())

/** Starts an identity provider on loopback with this response. */
async function listen(answer: (response: ServerResponse) => void) {
  const server = createServer((_request, response) => answer(response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { allowance } = readAllowance('127.0.0.1')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return { server, ask: () => createFetch(allowance)(url) }
}

it('waits five seconds for a complete response, even if parts of it keep arriving', async () => {
  let drip = (): Promise<void> => Promise.reject(new Error('Nobody has asked'))
  const { server, ask } = await listen((response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    drip = () => new Promise((resolve) => void response.write(' ', () => resolve()))
  })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const ended: string[] = []
  const asked = ask().catch(({ message }) => ended.push(message))
  await once(server, 'request')
  for (let second = 1; second < 5; second++) {
    await drip()
    vi.advanceTimersByTime(1_000)
  }
  vi.advanceTimersByTime(999)
  await drip()
  expect(ended).toEqual([])
  vi.advanceTimersByTime(1)
  await asked
  expect(ended).toEqual(['timeout'])
})

it('reads no more of a gigabyte than its limit, and keeps none of it', async () => {
  const chunk = Buffer.alloc(64 * 1024, ' ')
  const sent: number[] = []
  const { ask } = await listen((response) => {
    const more = () => {
      while (!response.destroyed && response.write(chunk));
    }
    response.on('close', () => sent.push(response.socket?.bytesWritten ?? 0))
    response.writeHead(200, { 'content-length': 2 ** 30 }).on('drain', more)
    more()
  })
  const before = process.memoryUsage().arrayBuffers
  for (let i = 0; i < 20; i++) await expect(ask()).rejects.toThrow('too_large')
  // No response may stay in memory. The garbage that is not collected yet is a few network buffers for each of the twenty.
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 2 ** 20)
  await expect.poll(() => sent.length).toBe(20)
  expect(Math.max(...sent)).toBeLessThan(16 * 2 ** 20)
})

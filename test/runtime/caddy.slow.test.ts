import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { hasCaddy, startCaddy } from '../support/caddy.ts'
import { openTestDatabase, startProcess } from '../support/processes.ts'
import { waitUntil } from '../support/wait-until.ts'

/** Starts a server that records the requests it receives. */
async function startListener(): Promise<{ address: string; seen: { request: IncomingMessage; bytes: number }[] }> {
  const seen: { request: IncomingMessage; bytes: number }[] = []
  const server = createServer(async (request, response) => {
    let bytes = 0
    for await (const piece of request) bytes += piece.length
    seen.push({ request, bytes })
    response.end('done')
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await waitUntil('the listener', () => server.listening || undefined)
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

describe.skipIf(!hasCaddy)('Caddy with ops/caddy/Caddyfile', () => {
  it("serves HTTPS under the site's name with HSTS once, is a trusted proxy, and waits for a restarting service", async () => {
    const { url: DATABASE_URL, db } = await openTestDatabase()
    onTestFinished(() => db.$disconnect())
    const trust = { PUBLIC_URL: 'https://localhost', TRUST_PROXY: 'loopback' }
    const service = await startProcess({ DATABASE_URL, ...trust })
    const caddy = await startCaddy(new URL(service.url).host)

    const page = await caddy.ask('/portal/sign-in')
    expect(page.status).toBe(200)
    expect(page.raw.filter((name) => name.toLowerCase() === 'strict-transport-security')).toHaveLength(1)
    expect((await caddy.ask('/readyz')).body).not.toContain('untrustedProxy')
    const plain = await fetch(`http://127.0.0.1:${caddy.httpPort}/portal`, { redirect: 'manual', headers: { host: 'localhost' } })
    expect([plain.status, plain.headers.get('location')]).toEqual([308, expect.stringMatching(/^https:/)])

    // Caddy waits for the service to restart on the same port.
    const { port: PORT } = new URL(service.url)
    service.kill('SIGTERM')
    await service.exited
    const waiting = caddy.ask('/healthz')
    await startProcess({ DATABASE_URL, ...trust, PORT })
    expect((await waiting).status).toBe(200)
  })

  it('replaces forwarded headers of clients, and passes on forms of 12 MB and origin headers', async () => {
    const { address, seen } = await startListener()
    const caddy = await startCaddy(address)
    seen.length = 0
    const headers = {
      'x-forwarded-for': '203.0.113.9',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'forged.example',
      origin: 'https://localhost',
      'sec-fetch-site': 'same-origin',
      'content-type': 'application/x-www-form-urlencoded',
    }
    const answer = await caddy.ask('/', { method: 'POST', headers, body: Buffer.alloc(12_000_000, 'a') })
    expect(answer.body).toBe('done')
    expect(seen).toHaveLength(1)
    expect(seen[0]!.bytes).toBe(12_000_000)
    expect(seen[0]!.request.headers).toMatchObject({
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'localhost',
      origin: 'https://localhost',
      'sec-fetch-site': 'same-origin',
    })
  })
})

import { createServer } from 'node:net'
import tls from 'node:tls'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { readAllowance } from '../../src/domain/webhooks/targets.ts'
import { createPost } from '../../src/webhooks/post.ts'
import { NOT_PUBLIC } from '../../src/webhooks/resolve.ts'
import { CERTIFICATE } from '../support/certificate.ts'
import { answerWith, hang, startReceiver } from '../support/receiver.ts'
import { itSlow } from '../support/slow.ts'
import { waitUntil } from '../support/wait-until.ts'

const allow = (list: string) => readAllowance(list).allowance
const loopback = allow('127.0.0.1')
const never = new AbortController().signal
const send = (url: string, { allowance = loopback, resolve = async (_: string) => ['127.0.0.1'], stop = never } = {}) =>
  createPost(allowance, resolve)(url, { 'webhook-id': '1' }, '{"é":1}', stop)

describe('a message', () => {
  it('arrives unchanged, on a new connection', async () => {
    const receiver = await startReceiver(answerWith(200, { 'retry-after': '7' }, 'thanks'))
    expect(await send(`${receiver.url}?a=b`)).toEqual({ status: 200, body: 'thanks', retryAfter: '7' })
    await send(receiver.url)
    const [{ method, path, headers, body }] = receiver.received as [(typeof receiver.received)[0]]
    expect({ method, path, body }).toEqual({ method: 'POST', path: '/hook?a=b', body: '{"é":1}' })
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': '8',
      connection: 'close',
      'user-agent': `Assessment-Invitation-Service/${manifest.version}`,
      'webhook-id': '1',
    })
    expect(headers).not.toHaveProperty('cookie')
    expect(receiver.connections()).toBe(2)
  })

  it('follows no redirect', async () => {
    const elsewhere = await startReceiver()
    const receiver = await startReceiver(answerWith(307, { location: elsewhere.url }))
    expect(await send(receiver.url)).toMatchObject({ status: 307 })
    expect(elsewhere.connections()).toBe(0)
  })

  it('ignores proxies from the environment', async () => {
    const proxy = await startReceiver()
    vi.stubEnv('NODE_USE_ENV_PROXY', '1')
    for (const name of ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY']) vi.stubEnv(name, proxy.url)
    onTestFinished(() => void vi.unstubAllEnvs())
    const receiver = await startReceiver()
    expect(await send(receiver.url)).toMatchObject({ status: 204 })
    expect(proxy.connections()).toBe(0)
  })

  it('is encrypted for a trusted certificate, and not sent without one', async () => {
    const receiver = await startReceiver(answerWith(204), CERTIFICATE)
    await expect(send(receiver.url)).rejects.toThrow(/self-signed/)
    expect(receiver.received).toEqual([])
    const trusted = tls.getCACertificates()
    tls.setDefaultCACertificates([...trusted, CERTIFICATE.cert])
    onTestFinished(() => tls.setDefaultCACertificates(trusted))
    expect(await send(receiver.url)).toMatchObject({ status: 204 })
    await expect(send(receiver.url.replace('127.0.0.1', 'other.example'))).rejects.toThrow(/does not match/)
  })
})

describe('a response', () => {
  it('is read up to 64 kB, and its first 1 kB is stored', async () => {
    const receiver = await startReceiver((response) => {
      response.writeHead(200)
      const writeMore = () => {
        while (response.write('x'.repeat(10_000)));
        response.once('drain', writeMore)
      }
      writeMore()
    })
    expect(await send(receiver.url)).toMatchObject({ status: 200, body: 'x'.repeat(1024) })
  })

  it('is an error if the connection ends before it is complete', async () => {
    const receiver = await startReceiver((response) => {
      response.writeHead(200, { 'content-length': '10' }).write('half', () => response.destroy())
    })
    await expect(send(receiver.url)).rejects.toThrow()
    receiver.behave((response) => response.destroy())
    await expect(send(receiver.url)).rejects.toThrow()
    receiver.behave((response) =>
      response.socket?.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: a\r\nConnection: upgrade\r\n\r\n'),
    )
    await expect(send(receiver.url)).rejects.toThrow()
    receiver.behave((response) => response.socket?.end(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`))
    await expect(send(receiver.url)).rejects.toThrow(/Header/)
    receiver.behave((response) => response.socket?.end('nonsense\r\n\r\n'))
    await expect(send(receiver.url)).rejects.toThrow()
  })

  itSlow('times out after 15 s, even if parts of it keep arriving', async () => {
    const receiver = await startReceiver((response) => {
      response.writeHead(200)
      const drip = setInterval(() => response.write('.'), 200)
      response.on('close', () => clearInterval(drip))
    })
    const hanging = await startReceiver(hang)
    const both = await Promise.allSettled([send(receiver.url), send(hanging.url)])
    expect(both.map((result) => result.status === 'rejected' && result.reason.message)).toEqual(
      Array.from({ length: 2 }, () => 'No complete answer within 15 s'),
    )
  })

  it('is abandoned when the service stops', async () => {
    const receiver = await startReceiver(hang)
    const stop = new AbortController()
    const sending = send(receiver.url, { stop: stop.signal })
    sending.catch(() => {})
    await receiver.waitFor(1)
    stop.abort()
    await expect(sending).rejects.toThrow(/abort/)
  })
})

describe('a host', () => {
  /** Starts a server on an internal address that counts connections. */
  async function listenInside(address = '127.0.0.1', at = 0) {
    let connections = 0
    const server = createServer((socket) => {
      connections++
      socket.destroy()
    }).listen(at, address)
    await waitUntil('the listener', () => server.listening || undefined)
    onTestFinished(() => void server.close())
    return { port: (server.address() as { port: number }).port, connections: () => connections }
  }
  const nobody = allow('')

  it.each(['127.0.0.1', '[::ffff:127.0.0.1]', '[::1]', '169.254.169.254', '2130706433'])(
    'in the internal network is never connected to: %s',
    async (host) => {
      const inside = await listenInside()
      await expect(send(`https://${host}:${inside.port}/`, { allowance: nobody })).rejects.toThrow(/host is not allowed/)
      expect(inside.connections()).toBe(0)
    },
  )

  it('is never connected to if its name resolves to an internal address, at any time or among others', async () => {
    const outside = await startReceiver(answerWith(204), CERTIFICATE)
    const inside = await listenInside('127.0.0.9', outside.port)
    const url = `https://rebinding.example:${outside.port}/`
    const lead = (...addresses: string[]) => send(url, { resolve: async () => addresses })
    await expect(lead('127.0.0.1')).rejects.toThrow(/self-signed/)
    expect(outside.connections()).toBe(1)
    for (const addresses of [['127.0.0.9'], ['127.0.0.1', '127.0.0.9'], ['::ffff:127.0.0.9'], ['127.0.0.1', '64:ff9b::7f00:9']])
      await expect(lead(...addresses)).rejects.toThrow(NOT_PUBLIC)
    expect([outside.connections(), inside.connections()]).toEqual([1, 0])
  })

  it('is resolved by the system if the operator allows it', async () => {
    const receiver = await startReceiver()
    const url = receiver.url.replace('127.0.0.1', 'localhost')
    const resolve = () => Promise.reject(new Error('asked in vain'))
    expect(await send(url, { allowance: allow('localhost'), resolve })).toMatchObject({ status: 204 })
  })

  it('is reported if it has no address', async () => {
    const resolve = () => Promise.reject(new Error('queryA ENOTFOUND nowhere.example'))
    await expect(send('https://nowhere.example/', { resolve })).rejects.toThrow('ENOTFOUND')
  })
})

import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { expect, it, onTestFinished } from 'vitest'
import { HttpError } from '../../../src/http/errors/failure.ts'
import { createBodyReader } from '../../../src/http/requests/body-reader.ts'
import { waitUntil } from '../../support/wait-until.ts'

/** Starts a server with a memory limit for all bodies. The URL names the sender. @returns a function that begins to send a body. */
async function listen(budget: number, paceMs = 60_000) {
  const app: FastifyInstance = fastify({ bodyLimit: 100_000 })
  onTestFinished(() => void app.close())
  const arrived = new Map<string, number>()
  app.decorateRequest('bodySource', null)
  app.removeAllContentTypeParsers()
  const read = createBodyReader(budget, paceMs)
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: IncomingMessage) => {
    payload.on('data', (chunk: Buffer) => arrived.set(request.url, (arrived.get(request.url) ?? 0) + chunk.length))
    return read(request, payload)
  })
  app.setErrorHandler((error, _request, reply) =>
    reply.code(error instanceof HttpError ? 429 : 500).send({ kind: (error as HttpError).kind }),
  )
  type Route = { Params: { organization: string; sender: string; name: string } }
  app.put<Route>(
    '/:organization/:sender/:name',
    {
      onRequest: async (request, reply) => {
        request.bodySource = { ...request.params, answer: reply.raw }
      },
    },
    async ({ body }) => ({ bytes: (body as Buffer).length }),
  )
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  /** Sends the first bytes of a body and waits until they arrive. */
  const begin = async (path: string, length: number, bytes: number) => {
    const socket: Socket = connect(port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => {})
    let text = ''
    socket.on('data', (data) => {
      text += data
    })
    await once(socket, 'connect')
    socket.write(`PUT ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: x/y\r\nContent-Length: ${length}\r\n\r\n`)
    socket.write(Buffer.alloc(bytes))
    await waitUntil('the bytes to come', async () => (arrived.get(path) ?? 0) >= bytes || text !== '' || undefined)
    return {
      send: (more: number) => socket.write(Buffer.alloc(more)),
      said: () => text,
      answered: () => waitUntil('an answer', async () => text || undefined),
    }
  }
  return begin
}

it('body reader rejects only the newest body of the largest sender when memory runs out', async () => {
  const begin = await listen(100_000)
  const quiet = await begin('/quiet/a/1', 30_000, 20_000)
  const first = await begin('/noisy/a/1', 50_000, 20_000)
  const most = await begin('/noisy/b/1', 50_000, 25_000)
  const newest = await begin('/noisy/b/2', 50_000, 25_000)
  quiet.send(10_000) // fits
  expect(await quiet.answered()).toContain('{"bytes":30000}')
  const another = await begin('/quiet/b/1', 40_000, 40_000) // does not
  expect(await newest.answered()).toContain('{"kind":"too_many_uploads"}')
  expect(await another.answered()).toContain('{"bytes":40000}')
  expect([first.said(), most.said()]).toEqual(['', ''])
  most.send(25_000)
  expect(await most.answered()).toContain('{"bytes":50000}')
})

it('body reader frees memory when a request is answered or its client disconnects', async () => {
  const begin = await listen(100_000)
  for (let i = 0; i < 5; i++) expect(await (await begin(`/a/a/${i}`, 90_000, 90_000)).answered()).toContain('{"bytes":90000}')
})

it('body reader rejects only bodies that arrive too slowly', async () => {
  const begin = await listen(1_000_000, 500)
  const stalled = await begin('/a/a/1', 90_000, 89_999)
  expect(await stalled.answered()).toContain('{"kind":"request_timeout"}')
})

it("body reader rejects bodies above the announced length or the route's limit", async () => {
  const begin = await listen(1_000_000)
  expect(await (await begin('/a/a/1', 100_001, 0)).answered()).toContain('{"kind":"body_too_large"}')
})

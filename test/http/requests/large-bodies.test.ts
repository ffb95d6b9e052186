import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import fastify, { type FastifyRequest } from 'fastify'
import { expect, it, onTestFinished } from 'vitest'
import { HttpError } from '../../../src/http/errors/failure.ts'
import { limitLargeBodies } from '../../../src/http/requests/large-bodies.ts'

/** Starts a server that answers bodies when they are released. The header names the organization; without it there is no context. */
async function listen() {
  const app = fastify({ bodyLimit: 1_000_000 })
  onTestFinished(() => void app.close())
  const released = Promise.withResolvers<void>()
  let arrived = 0
  app.decorateRequest('bodySource', null)
  app.decorateRequest('ctx', null as never)
  app.addHook('onRequest', async (request) => {
    const { organization: id } = request.headers
    if (id) request.ctx = { organization: { id }, actor: { kind: 'member', id: 'one' } } as never
  })
  app.removeAllContentTypeParsers()
  const readBody = limitLargeBodies(app)
  app.addContentTypeParser('*', (request: FastifyRequest, payload: IncomingMessage) => readBody(request, payload))
  app.setErrorHandler((error, _request, reply) => reply.code(error instanceof HttpError ? 429 : 500).send(String(error)))
  app.get('/', async () => 'a page')
  app.post('/', async ({ body }) => {
    arrived++
    await released.promise
    return { bytes: (body as Buffer).length }
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/`
  const send = async (organization: string, bytes: number) => {
    const headers = { 'content-type': 'x/y', ...(organization && { organization }) }
    return (await fetch(url, { method: 'POST', headers, body: new Uint8Array(bytes) })).status
  }
  const get = async () => (await fetch(url, { headers: { organization: 'one' } })).status
  return { send, get, release: released.resolve, arrived: () => arrived }
}

const LARGE = 400_000

it('admits three large bodies of an organization at a time, and refuses neither its pages and forms nor other organizations', async () => {
  const { send, get, release, arrived } = await listen()
  const uploads = Array.from({ length: 3 }, () => send('one', LARGE))
  await expect.poll(arrived).toBe(3)
  expect(await send('one', LARGE)).toBe(429)
  expect(await get()).toBe(200)
  const others = [send('one', 2_000), send('two', LARGE), send('', LARGE)]
  await expect.poll(arrived).toBe(6)
  release()
  expect(await Promise.all([...uploads, ...others])).toEqual(Array(6).fill(200))
  expect(await send('one', LARGE)).toBe(200)
})

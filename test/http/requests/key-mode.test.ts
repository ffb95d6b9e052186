import fastify from 'fastify'
import { expect, it, onTestFinished } from 'vitest'
import type { Context } from '../../../src/domain/context.ts'
import { guardInterface } from '../../../src/http/requests/guard.ts'
import { v1Envelope } from '../../../src/interfaces/v1/errors.ts'

/** Starts an interface with operations for live keys, for test keys, and for both. A request header sets the key's mode. */
async function serve() {
  const app = fastify()
  onTestFinished(() => app.close())
  guardInterface(app, {
    authenticate: async ({ headers }) =>
      ({ mode: headers.mode, actor: { kind: 'apiKey' }, deps: { replica: () => undefined } }) as unknown as Context,
    limiter: { count: async () => {}, countUnknownKey: () => {} },
    envelope: v1Envelope,
  })
  const body = { type: 'object', required: ['name'] }
  app.post('/shared', { schema: { scope: 'members:write', body } }, async () => ({}))
  app.post('/test-data', { schema: { isForTestKeys: true, body } }, async () => ({}))
  app.post('/either', async () => ({}))
  return async (mode: 'live' | 'test', url: string, payload: object) => {
    const { statusCode, headers } = await app.inject({ method: 'POST', url, headers: { mode }, payload })
    return [statusCode, headers['x-error-code']]
  }
}

it('rejects keys of the wrong mode before it validates the request', async () => {
  const ask = await serve()
  for (const payload of [{ name: 'a' }, {}]) {
    expect(await ask('test', '/shared', payload)).toEqual([403, 'live_key_required'])
    expect(await ask('live', '/test-data', payload)).toEqual([403, 'test_key_required'])
  }
  for (const mode of ['live', 'test'] as const) expect(await ask(mode, '/either', {})).toEqual([200, undefined])
  expect(await ask('live', '/shared', { name: 'a' })).toEqual([200, undefined])
  expect(await ask('test', '/test-data', { name: 'a' })).toEqual([200, undefined])
})

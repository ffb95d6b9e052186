import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { untrustedProxyOf } from './client.ts'

const SAID_EVERY_MS = 3_600_000

/** Says in the log, once an hour at most, that requests come through a proxy that is not trusted: to the service all of them are one client. */
export function reportUntrustedProxies(app: FastifyInstance, log: FastifyBaseLogger): void {
  let saidAt = Number.NEGATIVE_INFINITY
  app.addHook('onRequest', (request, _reply, done) => {
    const proxy = untrustedProxyOf(request)
    if (proxy !== undefined && performance.now() - saidAt >= SAID_EVERY_MS) {
      saidAt = performance.now()
      log.warn(
        { proxy },
        'requests come through a proxy that is not trusted: name it in TRUST_PROXY, or all its clients count as one',
      )
    }
    done()
  })
}

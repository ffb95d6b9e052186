import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { untrustedProxyOf } from './client.ts'

const INTERVAL_MS = 3_600_000

/** Logs at most once an hour that requests come through an untrusted proxy: the service takes all its clients for one. */
export function reportUntrustedProxies(app: FastifyInstance, log: FastifyBaseLogger): void {
  let reportedAt = Number.NEGATIVE_INFINITY
  app.addHook('onRequest', (request, _reply, done) => {
    const proxy = untrustedProxyOf(request)
    if (proxy !== undefined && performance.now() - reportedAt >= INTERVAL_MS) {
      reportedAt = performance.now()
      log.warn(
        { proxy },
        'requests come through an untrusted proxy: add it to TRUST_PROXY, or all clients behind it count as one',
      )
    }
    done()
  })
}

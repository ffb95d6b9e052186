import type { FastifyInstance } from 'fastify'
import type { Traffic } from '../../domain/context.ts'

/** Records the time of the latest answer. Background work yields to traffic. */
export function recordTraffic(app: FastifyInstance, traffic: Traffic): void {
  app.addHook('onResponse', (_request, _reply, done) => {
    traffic.answeredAt = performance.now()
    done()
  })
}

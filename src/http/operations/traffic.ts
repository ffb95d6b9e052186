import type { FastifyInstance } from 'fastify'
import type { Traffic } from '../../domain/context.ts'

/** Notes when requests are answered, for work that gives way to them. */
export function noteTraffic(app: FastifyInstance, traffic: Traffic): void {
  app.addHook('onResponse', (_request, _reply, done) => {
    traffic.answeredAt = performance.now()
    done()
  })
}

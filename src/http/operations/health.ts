import type { FastifyInstance, FastifyRequest } from 'fastify'
import { untrustedProxyOf } from '../addresses/client.ts'

const LIVENESS = '/healthz'
const READINESS = '/readyz'

/**
 * Adds `/healthz` (liveness) and `/readyz` (readiness). Not ready: while starting or stopping, and while database, migrations, or queue are
 * unavailable or writes fail. `untrustedProxy` is true for requests through a proxy that TRUST_PROXY does not name.
 */
export async function addHealthRoutes(app: FastifyInstance, findProblems: () => Promise<string[]>): Promise<void> {
  let stopping = false
  app.addHook('preClose', async () => {
    stopping = true
  })
  app.get(LIVENESS, async () => ({ status: 'ok' }))
  app.get(READINESS, async (request, reply) => {
    const problems = stopping ? ['stopping'] : await findProblems()
    const status = problems.length === 0 ? 'ready' : 'not ready'
    const proxy = untrustedProxyOf(request) !== undefined && { untrustedProxy: true }
    return reply.code(problems.length === 0 ? 200 : 503).send({ status, problems, ...proxy })
  })
}

export const isHealthCheck = ({ routeOptions: { url } }: FastifyRequest): boolean => url === LIVENESS || url === READINESS

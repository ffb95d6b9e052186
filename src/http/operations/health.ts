import type { FastifyInstance, FastifyRequest } from 'fastify'
import { untrustedProxyOf } from '../addresses/client.ts'

const LIVENESS = '/healthz'
const READINESS = '/readyz'

/**
 * `/healthz` says whether the process is alive, `/readyz` whether requests should be sent to it: not while it starts, nor while database,
 * migrations or queue are missing or writes fail, nor from the moment it begins to stop. Who asks through a proxy that is not trusted is told that, too.
 */
export async function answerHealth(app: FastifyInstance, findProblems: () => Promise<string[]>): Promise<void> {
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

/** Whether it is asked how the service is, which somebody does every few seconds. */
export const isHealthCheck = ({ routeOptions: { url } }: FastifyRequest): boolean => url === LIVENESS || url === READINESS

import type { FastifyInstance } from 'fastify'

/**
 * `/healthz` says whether the process is alive, `/readyz` whether requests should be sent to it: not while database, migrations or
 * queue are missing, nor from the moment it begins to stop.
 */
export async function answerHealth(app: FastifyInstance, findProblems: () => Promise<string[]>): Promise<void> {
  let stopping = false
  app.addHook('preClose', async () => {
    stopping = true
  })
  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async (_request, reply) => {
    const problems = stopping ? ['stopping'] : await findProblems()
    return reply.code(problems.length === 0 ? 200 : 503).send({ status: problems.length === 0 ? 'ready' : 'not ready', problems })
  })
}

import type { FastifyInstance } from 'fastify'

/**
 * One line a request, when it has been answered: who, which route, which status, how long. The route's pattern instead of the address,
 * because addresses hold candidates' tokens and clients' search words; ids of organization and key, never the key. The answer carries
 * the id that the lines are found by.
 */
export function logRequests(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
  })
  app.addHook('onResponse', async (request, reply) => {
    const { ctx } = request
    request.log.info(
      {
        method: request.method,
        route: request.routeOptions.url ?? null,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        ...(ctx && { organizationId: ctx.organization.id, apiKeyId: ctx.apiKey.id }),
      },
      'request',
    )
  })
}

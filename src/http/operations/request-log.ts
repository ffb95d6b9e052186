import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isHealthCheck } from './health.ts'

/**
 * Logs one line per answered request: organization, actor, route, status, and duration in milliseconds. It has the route's pattern instead of
 * the address, which can contain tokens and search terms, and the id of the API key, never the key. The answer has the request id. Health
 * checks are logged at level debug.
 */
export function logRequests(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    showRequestId(request, reply)
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    logAnswer(request, reply)
    done()
  })
}

/** Logs the answer to a request that could not be routed: no hook runs for it. */
export function logUnrouted(request: FastifyRequest, reply: FastifyReply): void {
  showRequestId(request, reply)
  reply.raw.once('finish', () => logAnswer(request, reply))
}

function showRequestId(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', request.id)
}

function logAnswer(request: FastifyRequest, reply: FastifyReply): void {
  const { ctx } = request
  request.log[isHealthCheck(request) ? 'debug' : 'info'](
    {
      method: request.method,
      route: request.routeOptions.url ?? null,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      ...(ctx && { organizationId: ctx.organization.id, ...actorId(ctx) }),
    },
    'request',
  )
}

const actorId = ({ actor }: FastifyRequest['ctx']): object => {
  if (actor.kind === 'apiKey') return { apiKeyId: actor.id }
  if (actor.kind === 'ats') return { atsKeyId: actor.id }
  return actor.kind === 'member' ? { memberId: actor.id } : {}
}

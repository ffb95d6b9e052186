import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { recordCall } from '../../../domain/ats/calls.ts'
import { authenticateAts } from '../../../domain/ats/keys.ts'
import type { ServiceContext } from '../../../domain/context.ts'
import type { Ats } from '../../../domain/ports/ats-settings.ts'
import type { Envelope } from '../../../http/errors/envelope.ts'
import type { RateLimiter } from '../../../http/limits/rate-limit.ts'
import { guardInterface } from '../../../http/requests/guard.ts'
import { readKey } from './read-key.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Order of the ATS's call, for the log of calls. */
    atsOrderId: string | null
  }
}

/** More than any order needs. Long texts are cut after reading. Only authenticated senders get this far. */
const MAX_BODY_BYTES = 2 * 1024 * 1024

export type AtsScope = { system: ServiceContext; limiter: RateLimiter }

/** Sets up the routes that an ATS calls: authenticates by the keys of this ATS, and records each call in the connection's log. */
export function openScope(
  app: FastifyInstance,
  ats: Ats,
  { system, limiter, envelope }: AtsScope & { envelope: Envelope },
): void {
  app.decorateRequest('atsOrderId', null)
  app.addHook('onRoute', (route) => {
    route.bodyLimit = MAX_BODY_BYTES
  })
  guardInterface(app, {
    authenticate: ({ headers }) => authenticateAts(system, ats, readKey(headers.authorization)),
    limiter,
    envelope,
  })
  app.addHook('onResponse', (request, reply) => logCall(request, reply))
}

async function logCall(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { ctx, routeOptions, atsOrderId: orderId } = request
  if (!ctx || routeOptions.url === undefined) return
  const error = reply.getHeader('x-error-code')?.toString() ?? ''
  const name = routeOptions.url.split('/').at(-1)!
  const milliseconds = Math.round(reply.elapsedTime)
  try {
    await recordCall(ctx, { name, status: reply.statusCode, error, milliseconds, orderId })
  } catch (error) {
    ctx.deps.log.warn({ err: error }, 'a call of an ATS could not be added to the call log')
  }
}

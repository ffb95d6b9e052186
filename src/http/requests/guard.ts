import type { FastifyInstance, FastifyRequest } from 'fastify'
import { authenticate } from '../../domain/api-keys/api-keys.ts'
import type { Context, ServiceContext } from '../../domain/context.ts'
import { DomainError } from '../../domain/errors.ts'
import { clientOf } from '../addresses/client.ts'
import { answerFailures, type Envelope } from '../errors/envelope.ts'
import type { RateLimiter } from '../limits/rate-limit.ts'
import { announceDeprecations } from '../openapi/deprecation.ts'
import { refuseWrongMode } from '../openapi/key-mode.ts'
import { refuseWithoutRight } from '../openapi/key-right.ts'
import { refuseWithoutScope } from '../openapi/key-scope.ts'
import { sendEtags } from '../sending/etag.ts'
import { fingerprintRequests } from './idempotency.ts'
import { readJsonBodies } from './json-body.ts'
import { onGone, type RequestContext } from './on-gone.ts'
import { originOf } from './origin.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks. Set by the guard before anything else of an interface's scope runs. */
    ctx: RequestContext
  }
}

/** @property authenticate finds out who asks. @throws DomainError of a key. */
type GuardOptions = { authenticate: (request: FastifyRequest) => Promise<Context>; limiter: RateLimiter; envelope: Envelope }

/** Who asks is known by an API key in a header. */
export const byApiKey =
  (system: ServiceContext, header: string): GuardOptions['authenticate'] =>
  (request) => {
    logMissingKey(request, header)
    return authenticate({ ...system, origin: originOf(request) }, request.headers[header]?.toString(), {
      address: request.ip,
      network: clientOf(request).network,
    })
  }

/** Headers in which clients send keys by mistake. Only names are logged. */
const KEY_HEADERS = [
  'x-api-key',
  'x-service-docs-api-key',
  'authorization',
  'api-key',
  'apikey',
  'x-auth-token',
  'x-access-token',
]

/** The answer's text is fixed by the contract, so the log says which header was expected. */
function logMissingKey({ headers, log }: FastifyRequest, expectedHeader: string): void {
  if (headers[expectedHeader]) return
  const sentHeaders = KEY_HEADERS.filter((name) => headers[name] !== undefined)
  log.info({ expectedHeader, sentHeaders }, 'no API key in the expected header')
}

/**
 * What interfaces for programs do alike for every request of their scope: authenticate, count against the rate limit, ask whether the
 * operation is for this key, and only then look at path, body and parameters; and whatever fails, answer in the interface's envelope.
 */
export function guardInterface(app: FastifyInstance, { authenticate, limiter, envelope }: GuardOptions): void {
  readJsonBodies(app)
  fingerprintRequests(app)
  sendEtags(app)
  announceDeprecations(app)
  app.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'private, no-cache') // people's data: no cache may show it to anybody else, or when it is old
    try {
      const ctx = await authenticate(request)
      request.ctx = { ...ctx, origin: originOf(request), replica: ctx.deps.replica(), onGone: onGone(reply) }
    } catch (error) {
      // Not of a key that is known and no longer good: its owner is to be told so, however often.
      if (error instanceof DomainError && error.kind === 'api_key_unknown') limiter.countUnknownKey(request)
      throw error
    }
    await limiter.count(request.ctx, reply)
    refuseWithoutScope(request)
    refuseWrongMode(request)
    refuseWithoutRight(request)
  })
  answerFailures(app, () => envelope)
}

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { authenticate } from '../../domain/api-keys/api-keys.ts'
import type { Context, ServiceContext } from '../../domain/context.ts'
import { DomainError } from '../../domain/errors.ts'
import { clientOf } from '../addresses/client.ts'
import { answerErrors, type Envelope } from '../errors/envelope.ts'
import type { RateLimiter } from '../limits/rate-limit.ts'
import { announceDeprecations } from '../openapi/deprecation.ts'
import { requireMode, requireRight, requireScope } from '../openapi/key-access.ts'
import { addEtags } from '../sending/etag.ts'
import { auditOriginOf } from './audit-origin.ts'
import { disconnectSignal, type RequestContext } from './disconnect-signal.ts'
import { fingerprintRequests } from './idempotency.ts'
import { readJsonBodies } from './json-body.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the guard before the other hooks of an interface's scope. */
    ctx: RequestContext
  }
}

/** @property authenticate throws DomainError for an unknown or invalid key. */
type GuardOptions = { authenticate: (request: FastifyRequest) => Promise<Context>; limiter: RateLimiter; envelope: Envelope }

/** Authenticates by an API key in a header. */
export const authenticateByApiKey =
  (system: ServiceContext, header: string): GuardOptions['authenticate'] =>
  (request) => {
    logMissingKey(request, header)
    return authenticate({ ...system, origin: auditOriginOf(request) }, request.headers[header]?.toString(), {
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

/** The contract fixes the answer's text, so only the log can name the expected header. */
function logMissingKey({ headers, log }: FastifyRequest, expectedHeader: string): void {
  if (headers[expectedHeader]) return
  const sentHeaders = KEY_HEADERS.filter((name) => headers[name] !== undefined)
  log.info({ expectedHeader, sentHeaders }, 'no API key in the expected header')
}

/**
 * Protects an API: authenticates each request, counts it against the rate limit, and checks scope, mode, and right of the key before path,
 * body, and parameters are validated. Errors are answered in the interface's envelope.
 */
export function guardInterface(app: FastifyInstance, { authenticate, limiter, envelope }: GuardOptions): void {
  readJsonBodies(app)
  fingerprintRequests(app)
  addEtags(app)
  announceDeprecations(app)
  app.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'private, no-cache') // personal data
    try {
      const ctx = await authenticate(request)
      request.ctx = { ...ctx, origin: auditOriginOf(request), replica: ctx.deps.replica(), signal: disconnectSignal(reply) }
    } catch (error) {
      // Only unknown keys count: the owner of an expired or revoked key should always learn the reason.
      if (error instanceof DomainError && error.kind === 'api_key_unknown') limiter.countUnknownKey(request)
      throw error
    }
    await limiter.count(request.ctx, reply)
    requireScope(request)
    requireMode(request)
    requireRight(request)
  })
  answerErrors(app, () => envelope)
}

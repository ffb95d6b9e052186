import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Refusal, recordRefusal } from '../../domain/sign-in/record-refusal.ts'
import type { RawResponse } from './client-error.ts'
import { type Failure, type FailureKind, toFailure } from './failure.ts'

/** Error format of one interface. */
export type Envelope = {
  /** Path without a trailing slash. */
  prefix: string
  sendFailure: (failure: Failure, request: FastifyRequest, reply: FastifyReply) => FastifyReply
  /** Answer to bytes that could not be parsed as a request. */
  rawFailure: (kind: FailureKind) => RawResponse
}

/** Answers errors and unknown paths of the scope in the envelope of the path. */
export function answerErrors(app: FastifyInstance, envelopeOf: (path: string) => Envelope): void {
  app.setErrorHandler((error, request, reply) => answerError(envelopeOf(request.url), error, request, reply))
  app.setNotFoundHandler((request, reply) =>
    envelopeOf(request.url).sendFailure({ kind: 'path_not_found', issues: [] }, request, reply),
  )
}

/** Answers an error in the envelope. Logs errors of the service, and records refused permissions in the audit log. */
export function answerError(
  { sendFailure }: Envelope,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const failure = toFailure(error)
  if (failure.kind === 'internal') request.log.error({ err: error }, 'request failed')
  const isConnected = !reply.raw.destroyed
  if (failure.kind === 'database_busy' && isConnected)
    request.log.warn({ err: error }, 'database busy: the client is told to retry')
  if (failure.kind === 'store_unavailable')
    request.log.warn({ err: error }, 'media store unavailable: the client is told to retry')
  const refusal = REFUSALS[failure.kind]
  if (refusal && request.ctx) void recordRefusal(request.ctx, refusal)
  return sendFailure(failure, request, reply)
}

/** Recorded in the organization's audit log. domain/api-keys/api-keys.ts records refused networks. */
const REFUSALS: Partial<Record<FailureKind, Refusal>> = {
  not_permitted: 'permission',
  manage_required: 'permission',
  insufficient_scope: 'scope',
}

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Refusal, recordRefusal } from '../../domain/sign-in/record-refusal.ts'
import type { RawAnswer } from './client-error.ts'
import { type Failure, type FailureKind, toFailure } from './failure.ts'

/** How an interface answers errors of requests under its prefix. */
export type Envelope = {
  /** Path, without a trailing slash. */
  prefix: string
  sendFailure: (failure: Failure, request: FastifyRequest, reply: FastifyReply) => FastifyReply
  /** The answer to bytes that could not be parsed as a request. */
  rawFailure: (kind: FailureKind) => RawAnswer
}

/** Answers all errors in the scope, and unknown paths, in the envelope that the path belongs to. */
export function answerFailures(app: FastifyInstance, envelopeOf: (path: string) => Envelope): void {
  app.setErrorHandler((error, request, reply) => answerError(envelopeOf(request.url), error, request, reply))
  app.setNotFoundHandler((request, reply) =>
    envelopeOf(request.url).sendFailure({ kind: 'path_not_found', issues: [] }, request, reply),
  )
}

/** Answers an error in the envelope, and logs it unless it is the client's mistake. */
export function answerError(
  { sendFailure }: Envelope,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const failure = toFailure(error)
  if (failure.kind === 'internal') request.log.error({ err: error }, 'request failed')
  const isHeard = !reply.raw.destroyed
  if (failure.kind === 'database_busy' && isHeard) request.log.warn({ err: error }, 'database busy: the client is told to retry')
  if (failure.kind === 'store_unavailable')
    request.log.warn({ err: error }, 'media store unavailable: the client is told to retry')
  const what = REFUSALS[failure.kind]
  if (what && request.ctx) void recordRefusal(request.ctx, what)
  return sendFailure(failure, request, reply)
}

/** What the organization's audit log is told of; of a network see domain/api-keys/api-keys.ts. */
const REFUSALS: Partial<Record<FailureKind, Refusal>> = {
  not_permitted: 'permission',
  manage_required: 'permission',
  insufficient_scope: 'scope',
}

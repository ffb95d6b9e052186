import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { RawAnswer } from './client-error.ts'
import { type Failure, type FailureKind, toFailure } from './failure.ts'

/** How an interface says what went wrong with the requests under its prefix. */
export type Envelope = {
  /** Path, without a trailing slash. */
  prefix: string
  sendFailure: (failure: Failure, request: FastifyRequest, reply: FastifyReply) => FastifyReply
  /** The answer to what never became a request. */
  rawFailure: (kind: FailureKind) => RawAnswer
}

/** Has everything that goes wrong in the scope, and a path it doesn't have, answered in the envelope of the path. */
export function answerFailures(app: FastifyInstance, envelopeOf: (path: string) => Envelope): void {
  app.setErrorHandler((error, request, reply) => answerError(envelopeOf(request.url), error, request, reply))
  app.setNotFoundHandler((request, reply) =>
    envelopeOf(request.url).sendFailure({ kind: 'path_not_found', issues: [] }, request, reply),
  )
}

/** Answers whatever was thrown in the envelope, and logs what is not the request's own mistake. */
export function answerError(
  { sendFailure }: Envelope,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const failure = toFailure(error)
  if (failure.kind === 'internal') request.log.error({ err: error }, 'request failed')
  if (failure.kind === 'database_busy') request.log.warn({ err: error }, 'request waited in vain for the database')
  return sendFailure(failure, request, reply)
}

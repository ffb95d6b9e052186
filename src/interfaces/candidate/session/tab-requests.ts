import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { bindToTab, type PreparedSession } from '../../../domain/submissions/taking/session.ts'
import { isUuid } from '../../../domain/text/uuid.ts'
import { HttpError } from '../../../http/errors/failure.ts'

/** Milliseconds between an action and its request. A duration, because the candidate's clock may be wrong. */
export const Ago = () => Type.Number({ minimum: 0, maximum: 1e12 })

type RequestHeaders = Pick<FastifyRequest, 'headers'>

/** @returns the id of the candidate's tab, from the header `x-tab`. */
export const readTab = ({ headers }: RequestHeaders): string | undefined => headers['x-tab']?.toString()

/**
 * Enters the session for the request's tab, with the idempotency key for attemptOnce.
 *
 * @throws DomainError session_refused (taken_over). @throws HttpError malformed_request if the key is not a UUID.
 */
export function enterWithIdempotencyKey(session: PreparedSession, request: RequestHeaders): PreparedSession {
  const key = request.headers['idempotency-key']?.toString().toLowerCase() ?? null
  if (key !== null && !isUuid(key)) throw new HttpError('malformed_request')
  return bindToTab(session, readTab(request), key)
}

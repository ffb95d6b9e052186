import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { enterByTab, type PreparedSession } from '../../../domain/submissions/taking/session.ts'
import { isUuid } from '../../../domain/values/uuid.ts'
import { HttpError } from '../../../http/errors/failure.ts'

/** How many milliseconds before the request something was done: whatever the candidate's clock says. */
export const Ago = () => Type.Number({ minimum: 0, maximum: 1e12 })

type Asking = Pick<FastifyRequest, 'headers'>

/** The tab of the candidate's browser that asks. */
export const tabOf = ({ headers }: Asking): string | undefined => headers['x-tab']?.toString()

/**
 * Lets in the tab that asks, with the id that it has given this attempt, see attemptOnce.
 *
 * @throws DomainError session_refused (taken_over); HttpError malformed_request for what is no uuid.
 */
export function enterWithAttempt(session: PreparedSession, request: Asking): PreparedSession {
  const attempt = request.headers['idempotency-key']?.toString().toLowerCase() ?? null
  if (attempt !== null && !isUuid(attempt)) throw new HttpError('malformed_request')
  return enterByTab(session, tabOf(request), attempt)
}

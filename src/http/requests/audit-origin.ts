import type { FastifyRequest } from 'fastify'
import type { RequestOrigin } from '../../domain/context.ts'

/** Origin of a request for the audit log. @param sessionId null without a session. */
export const auditOriginOf = ({ ip, headers, id }: FastifyRequest, sessionId: string | null = null): RequestOrigin => ({
  address: ip,
  userAgent: headers['user-agent'] ?? '',
  sessionId,
  requestId: id,
})

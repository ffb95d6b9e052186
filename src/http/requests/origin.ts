import type { FastifyRequest } from 'fastify'
import type { RequestOrigin } from '../../domain/context.ts'

/** From where a request comes, as the audit log keeps it. @param sessionId of whoever is signed in. */
export const originOf = ({ ip, headers, id }: FastifyRequest, sessionId: string | null = null): RequestOrigin => ({
  address: ip,
  userAgent: headers['user-agent'] ?? '',
  sessionId,
  requestId: id,
})

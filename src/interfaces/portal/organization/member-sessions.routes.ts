import type { FastifyInstance } from 'fastify'
import { endMemberSessions } from '../../../domain/members/members-sessions.ts'
import { pathOf } from '../kit/layout.ts'

/** Ends other members' sessions in this organization. */
export function memberSessionsRoutes(app: FastifyInstance): void {
  app.post<{ Params: { memberId: string; sessionId: string } }>(
    '/members/:memberId/sessions/:sessionId/end',
    async ({ ctx, params }, reply) => {
      await endMemberSessions(ctx, params.memberId, params.sessionId)
      return reply.redirect(`${pathOf(ctx, `members/${params.memberId}`)}?done=session`, 303)
    },
  )

  app.post<{ Params: { memberId: string } }>('/members/:memberId/sessions/end-all', async ({ ctx, params }, reply) => {
    await endMemberSessions(ctx, params.memberId)
    return reply.redirect(`${pathOf(ctx, `members/${params.memberId}`)}?done=sessions`, 303)
  })
}

import type { FastifyInstance } from 'fastify'
import { may } from '../../domain/access/permissions.ts'
import { getSubmission } from '../../domain/submissions/submission.ts'
import { show } from './layout.ts'
import { submissionPage } from './submission.page.ts'

/** What a candidate has sent in, for admins and for the grader it is assigned to. */
export function submissionRoutes(app: FastifyInstance): void {
  app.get<{ Params: { inviteId: string } }>('/invites/:inviteId/submission', async (request, reply) => {
    const { ctx, params } = request
    const found = await getSubmission(ctx, params.inviteId)
    return show(request, reply, submissionPage({ ctx, ...found, mayReadInvite: may(ctx, 'read') }))
  })
}

import { onReplica } from '../../domain/lists/on-replica.ts'
import { listMembers } from '../../domain/members/members.ts'
import type { TypedApp } from '../../http/requests/typed-app.ts'
import { answerList, ListOf, ListQuery, toOrder, toPage } from './list.ts'
import { memberView } from './members.view.ts'

const sortWords = { joined_at: 'joinedAt', email: 'email' } as const

/** v1.md, Members. */
export function memberRoutes(app: TypedApp): void {
  app.get(
    '/members',
    {
      schema: {
        tags: ['Members'],
        operationId: 'listMembers',
        scope: 'members:read',
        summary: 'List members',
        description: 'The members of the organization, active or not, by default the last joined first.',
        querystring: ListQuery(sortWords, {}),
        response: { 200: ListOf('members', memberView.schema) },
      },
    },
    async (request, reply) => {
      const { ctx, query } = request
      const list = await onReplica(ctx, (ctx) => listMembers(ctx, memberView.shown, {}, toOrder(sortWords, query), toPage(query)))
      return answerList(request, reply, 'members', list, memberView.present)
    },
  )
}

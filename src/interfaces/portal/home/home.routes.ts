import type { FastifyInstance } from 'fastify'

import { may } from '../../../domain/access/permissions.ts'
import { readOverview } from '../../../domain/invites/overview/read-overview.ts'
import { readOwnOverview } from '../../../domain/invites/overview/read-own-overview.ts'
import { countQueues, waitsSince } from '../../../domain/submissions/grading/queue.ts'
import { html } from '../../../html/html.ts'
import { show } from '../kit/layout.ts'
import { queryOf } from '../kit/paging.ts'
import { deleteTestData, NOTICES } from '../test-data/test-data.page.ts'
import { homePage, organizationHome } from './home.page.ts'
import { ownHome } from './own-home.page.ts'

export function homeRoutes(app: FastifyInstance): void {
  app.get('/', async (request, reply) => {
    const { ctx, signedIn } = request
    const name = signedIn?.memberships.find(({ organizationId }) => organizationId === ctx.organization.id)?.user.firstName ?? ''
    const grades = may(ctx, 'grade')
    const queues = grades ? await countQueues(ctx) : []
    const longest = queues.findLast(({ whose }) => whose !== 'release')
    const waiting = grades ? { queues, count: longest?.count ?? 0, since: await waitsSince(ctx) } : null
    const isOwn = !may(ctx, 'read')
    const body = isOwn
      ? ownHome(ctx, { ...(await readOwnOverview(ctx)), waiting })
      : organizationHome(ctx, await readOverview(ctx), waiting)
    const subtitle = isOwn ? undefined : 'What needs you today, and how the last 30 days went.'
    const deletion = ctx.mode === 'test' && may(ctx, 'delete_test_data') && deleteTestData(ctx)
    const notice = NOTICES.get(queryOf(request).get('done') ?? '')
    return show(request, reply, homePage(ctx, { name, subtitle, body: html`${body}${deletion}`, notice }))
  })
}

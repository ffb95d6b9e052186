import type { FastifyInstance } from 'fastify'

import { may } from '../../../domain/access/permissions.ts'
import { readOverview } from '../../../domain/invites/overview/read-overview.ts'
import { readOwnOverview } from '../../../domain/invites/overview/read-own-overview.ts'
import { countQueues } from '../../../domain/submissions/grading/queue.ts'
import { html } from '../../../html/html.ts'
import { waitingPanel } from '../grading/queue.page.ts'
import { show } from '../kit/layout.ts'
import { queryOf } from '../kit/paging.ts'
import { deleteTestData, NOTICES } from '../test-data/test-data.page.ts'
import { homePage, organizationHome } from './home.page.ts'
import { ownHome } from './own-home.page.ts'

export function homeRoutes(app: FastifyInstance): void {
  app.get('/', async (request, reply) => {
    const { ctx, signedIn } = request
    const name = signedIn?.memberships.find(({ organizationId }) => organizationId === ctx.organization.id)?.user.firstName ?? ''
    const queues = may(ctx, 'grade') ? await countQueues(ctx) : null
    const body = may(ctx, 'read')
      ? organizationHome(ctx, await readOverview(ctx), queues)
      : html`${queues && waitingPanel(ctx, queues)}${ownHome(ctx, await readOwnOverview(ctx))}`
    const deletion = ctx.mode === 'test' && may(ctx, 'delete_test_data') && deleteTestData(ctx)
    const notice = NOTICES.get(queryOf(request).get('done') ?? '')
    return show(request, reply, homePage(ctx, name, html`${body}${deletion}`, notice))
  })
}

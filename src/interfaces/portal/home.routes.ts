import type { FastifyInstance } from 'fastify'
import { may } from '../../domain/access/permissions.ts'
import { readOverview } from '../../domain/invites/overview.ts'
import { homePage } from './home.page.ts'
import { show } from './layout.ts'

export function homeRoutes(app: FastifyInstance): void {
  app.get('/', async (request, reply) => {
    const { ctx } = request
    return show(request, reply, homePage(ctx, may(ctx, 'read') ? await readOverview(ctx) : null))
  })
}

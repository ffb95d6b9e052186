import type { FastifyInstance } from 'fastify'
import { homePage } from './home.page.ts'
import { show } from './layout.ts'

export function homeRoutes(app: FastifyInstance): void {
  app.get('/', async (request, reply) => show(request, reply, homePage(request.ctx)))
}

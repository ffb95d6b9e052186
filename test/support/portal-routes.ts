import fastify from 'fastify'
import type { Context, ServiceContext } from '../../src/domain/context.ts'
import { portalPages } from '../../src/interfaces/portal/index.ts'

const PREFIX = '/portal/:organizationId'

/** Every page and form of an organization, as `GET /assessments/:assessmentId`. */
export async function listPortalRoutes(system = {} as ServiceContext): Promise<string[]> {
  const found = new Set<string>()
  const app = fastify()
  app.decorateRequest<Context | null>('ctx', null)
  app.addHook('onRoute', ({ method, url }) => {
    const path = url.startsWith(PREFIX) ? url.slice(PREFIX.length) || '/' : undefined
    for (const verb of [method].flat()) if (path && verb !== 'HEAD') found.add(`${verb} ${path}`)
  })
  const settings = { publicUrl: 'http://x', secretKeys: ['x'] }
  await app.register((scope) => portalPages(scope, { system, settings }), { prefix: '/portal' })
  await app.ready()
  return [...found].sort()
}

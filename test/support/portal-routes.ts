import fastify, { type RouteOptions } from 'fastify'
import type { Context, ServiceContext } from '../../src/domain/context.ts'
import { portalPages } from '../../src/interfaces/portal/index.ts'

const PREFIX = '/portal'
const ORGANIZATION = '/:organizationId'

/** Lists every page and form of an organization, in the form `GET /assessments/:assessmentId`. */
export async function listPortalRoutes(system = {} as ServiceContext): Promise<string[]> {
  const all = await listRoutes(system)
  return all
    .filter(({ path }) => path.startsWith(ORGANIZATION))
    .map(({ verb, path }) => `${verb} ${path.slice(ORGANIZATION.length) || '/'}`)
}

/** Lists the routes that require recent authentication and the routes that don't, in the form `POST /:organizationId/members`. */
export async function listByFreshness(): Promise<{ fresh: string[]; others: string[] }> {
  const all = await listRoutes({} as ServiceContext)
  const named = (isFresh: boolean) => all.filter((route) => route.isFresh === isFresh).map(({ verb, path }) => `${verb} ${path}`)
  return { fresh: named(true), others: named(false) }
}

async function listRoutes(system: ServiceContext) {
  const found = new Map<string, { verb: string; path: string; isFresh: boolean }>()
  const app = fastify()
  app.decorateRequest<Context | null>('ctx', null)
  app.addHook('onRoute', ({ method, url, config }: RouteOptions) => {
    const path = url.slice(PREFIX.length) || '/'
    for (const verb of [method].flat())
      if (verb !== 'HEAD') found.set(`${verb} ${path}`, { verb, path, isFresh: config?.requiresRecentAuthentication === true })
  })
  const settings = { publicUrl: 'http://x', secretKeys: ['x'] }
  const mailTexts = {
    previewText: () => ({ subject: '', text: '', html: '' }),
    defaultText: () => ({ subject: '', body: '' }),
  }
  await app.register((scope) => portalPages(scope, { system, settings, mailTexts }), { prefix: PREFIX })
  await app.ready()
  return [...found].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, route]) => route)
}

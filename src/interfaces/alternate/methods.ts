import type { FastifyInstance, HTTPMethods } from 'fastify'
import { HttpError } from '../../http/errors/failure.ts'

const METHODS: HTTPMethods[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE']

/**
 * Adds the routes. Answers OPTIONS on each of their paths with the allowed methods, and other methods with 405 before the body is read
 * (alternate-behaviour.md, Other statuses).
 */
export function withOtherMethodsAnswered<App extends FastifyInstance>(app: App, makeRoutes: (app: App) => void): void {
  const methodsByPath = new Map<string, Set<string>>()
  let making = true
  app.addHook('onRoute', ({ routePath, method }) => {
    if (making) methodsByPath.set(routePath, new Set([...(methodsByPath.get(routePath) ?? []), ...[method].flat()]))
  })
  makeRoutes(app)
  making = false
  for (const [path, methods] of methodsByPath) answerOtherMethods(app, path, methods)
}

function answerOtherMethods(app: FastifyInstance, url: string, methods: Set<string>): void {
  const allow = [...METHODS.filter((method) => methods.has(method)), 'HEAD', 'OPTIONS'].join(', ')
  app.options(url, async (_request, reply) => reply.header('allow', allow).send({}))
  app.route({
    method: METHODS.filter((method) => !methods.has(method)),
    url,
    onRequest: async (_request, reply) => {
      reply.header('allow', allow)
      throw new HttpError('method_not_allowed')
    },
    handler: () => {},
  })
}

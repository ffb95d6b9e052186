import { subscribe } from 'node:diagnostics_channel'
import type { FastifyInstance } from 'fastify'

/** All routes of the services that are started from now on, as `GET /api/v1/tags/:tagId`; a new one is there by itself. */
export function collectRoutes(): ReadonlySet<string> {
  const found = new Set<string>()
  subscribe('fastify.initialization', (message) => {
    const { fastify } = message as { fastify: FastifyInstance }
    fastify.addHook('onRoute', ({ method, url }) => {
      for (const verb of [method].flat()) found.add(`${verb} ${url}`)
    })
  })
  return found
}

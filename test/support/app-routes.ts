import { subscribe } from 'node:diagnostics_channel'
import type { FastifyInstance } from 'fastify'

/** Collects all routes of services that start after this call, in the form `GET /api/v1/tags/:tagId`. */
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

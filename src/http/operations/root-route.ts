import type { FastifyInstance } from 'fastify'

/** @property openapi path of the OpenAPI document. */
type Entry = { title: string; openapi: string }

/** Redirects `/` to the portal. Clients that ask for JSON get a list of the OpenAPI documents. */
export function addRootRoute(app: FastifyInstance, { portal, documents }: { portal: string; documents: Entry[] }): void {
  app.get('/', async ({ headers }, reply) => {
    reply.header('vary', 'accept')
    const accept = headers.accept ?? ''
    const wantsJson = accept.includes('application/json') && !accept.includes('text/html')
    return wantsJson ? { documents } : reply.redirect(portal)
  })
}

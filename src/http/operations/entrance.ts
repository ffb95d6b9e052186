import type { FastifyInstance } from 'fastify'

/** A document of an interface, and where it is. */
type Entry = { title: string; openapi: string }

/**
 * Where whoever knows only the service's host is led to: people to the portal, programs that ask for JSON to the documents of the interfaces.
 */
export function answerEntrance(app: FastifyInstance, { portal, documents }: { portal: string; documents: Entry[] }): void {
  app.get('/', async ({ headers }, reply) => {
    reply.header('vary', 'accept')
    const accept = headers.accept ?? ''
    const wantsJson = accept.includes('application/json') && !accept.includes('text/html')
    return wantsJson ? { documents } : reply.redirect(portal)
  })
}

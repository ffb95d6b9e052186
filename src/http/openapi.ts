import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'

type Description = { title: string; introduction: string; keyHeader: string }

/** Options of @fastify/swagger for one interface: an OpenAPI 3.1 document of the scope's own routes and schemas. */
export const describeInterface = ({ title, introduction, keyHeader }: Description): FastifyDynamicSwaggerOptions => ({
  openapi: {
    openapi: '3.1.0',
    info: { title, version: '1.0.0', description: introduction, license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' } },
    servers: [{ url: '/' }],
    components: { securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: keyHeader } } },
    security: [{ apiKey: [] }],
  },
  // Schemas under components by their own names, not def-0, def-1.
  refResolver: { buildLocalReference: (json, _baseUri, _fragment, i) => (typeof json.$id === 'string' ? json.$id : `Schema${i}`) },
})

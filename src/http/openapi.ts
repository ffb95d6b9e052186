import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'

type Description = { title: string; introduction: string; keyHeader: string }

/** Schema keyword: the field may hold, instead of this id, the named object. Only documents know it; serializers take the id. */
export const OBJECT_INSTEAD = 'x-object'

/** Options of @fastify/swagger for one interface: an OpenAPI 3.1 document of the scope's own routes and schemas. */
export const describeInterface = ({ title, introduction, keyHeader }: Description): FastifyDynamicSwaggerOptions => ({
  transformObject: (document) => showObjects('openapiObject' in document ? document.openapiObject : document.swaggerObject),
  openapi: {
    openapi: '3.1.0',
    info: {
      title,
      version: '1.0.0',
      description: introduction,
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    },
    servers: [{ url: '/' }],
    components: { securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: keyHeader } } },
    security: [{ apiKey: [] }],
  },
  // Schemas under components by their own names, not def-0, def-1.
  refResolver: {
    buildLocalReference: (json, _baseUri, _fragment, i) => (typeof json.$id === 'string' ? json.$id : `Schema${i}`),
  },
})

function showObjects<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(showObjects) as T
  const { [OBJECT_INSTEAD]: name, ...rest } = Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, showObjects(member)]),
  )
  return (name === undefined ? rest : { anyOf: [rest, { $ref: `#/components/schemas/${name}` }] }) as T
}

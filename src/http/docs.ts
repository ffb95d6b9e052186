import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'

/** One interface's OpenAPI document, as it is once all routes are known. */
export type ApiDocument = { name: string; title: string; read: () => object }

/** `/docs`: a page for reading and trying the interfaces, and their documents under `/docs/<name>/openapi.json`. Works offline. */
export async function docs(app: FastifyInstance, documents: ApiDocument[]): Promise<void> {
  const path = (name: string) => `/docs/${name}/openapi.json`
  for (const { name, read } of documents) {
    let text: string | undefined // written once, when all routes are known
    app.get(path(name), async (_request, reply) => {
      text ??= JSON.stringify(read())
      return reply.type('application/json; charset=utf-8').send(text)
    })
  }
  await app.register(async (scope) => {
    await scope.register(swagger) // the page insists on it; the documents are those above
    await scope.register(swaggerUi, {
      routePrefix: '/docs',
      staticCSP: {
        'default-src': "'none'",
        'connect-src': "'self'",
        'script-src': "'self'",
        'style-src': "'self' 'unsafe-inline'",
        'img-src': "'self' data:",
        'frame-ancestors': "'none'",
      },
      uiConfig: {
        urls: documents.map(({ name, title }) => ({ name: title, url: path(name) })),
        persistAuthorization: false,
        validatorUrl: null,
      },
      theme: { title: 'Assessment Invitation Service' },
    })
  })
}

import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { FastifyInstance } from 'fastify'
import { toText } from '../../html/html.ts'
import { requestOrigin } from '../addresses/address.ts'
import { toBruno } from './bruno.ts'
import { describeDocument } from './describe.ts'
import type { OpenApiDocument } from './openapi-document.ts'
import { docsPage } from './page.ts'

/** One interface's OpenAPI document, as it is once all routes are known. */
export type ApiDocument = { name: string; title: string; read: () => object }

export const DOCS_PREFIX = '/docs'

/** No inline script or style, nothing from elsewhere, and no form that a browser sends by itself. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/**
 * A page for reading and trying each interface under `/docs/<name>`, made of its OpenAPI document, which is under
 * `/docs/<name>/openapi.json`; made of it as well is the collection for Bruno under `/docs/<name>/bruno.json`. `/docs` leads to the first
 * page. Pages work offline, and for reading without JavaScript.
 */
export async function docs(app: FastifyInstance, documents: ApiDocument[]): Promise<void> {
  const pages = documents.map(({ name, title }) => ({ name, title, path: `${DOCS_PREFIX}/${name}` }))
  for (const { name, read } of documents) {
    const document = once(read)
    const description = once(() => describeDocument(document() as OpenApiDocument))
    const page = once(() => toText(docsPage({ ...description(), home: DOCS_PREFIX, name, pages })))
    app.get(`${DOCS_PREFIX}/${name}/openapi.json`, async (request) => ({
      ...document(),
      servers: [{ url: requestOrigin(request), description: 'Where this document was found' }],
    }))
    app.get(`${DOCS_PREFIX}/${name}/bruno.json`, async (request, reply) => {
      const collection = toBruno(description(), requestOrigin(request))
      return reply.header('content-disposition', `attachment; filename="${name}-bruno.json"`).send(collection)
    })
    app.get(`${DOCS_PREFIX}/${name}`, async (_request, reply) =>
      reply.header('content-security-policy', CONTENT_SECURITY_POLICY).type('text/html; charset=utf-8').send(page()),
    )
  }
  for (const address of [DOCS_PREFIX, `${DOCS_PREFIX}/`])
    app.get(address, async (_request, reply) => reply.redirect(pages[0]!.path))
  const files = { 'page.css': 'text/css', 'page.js': 'text/javascript' }
  for (const [file, type] of Object.entries(files)) {
    const content = readFileSync(path.join(import.meta.dirname, file), 'utf8')
    app.get(`${DOCS_PREFIX}/${file}`, async (_request, reply) => reply.type(`${type}; charset=utf-8`).send(content))
  }
}

/** Made when first asked for: by then all routes are known. */
function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { toText } from '../../html/html.ts'
import { requestOrigin } from '../addresses/address.ts'
import { serveAssets } from '../pages/assets.ts'
import { toBruno, toPostman } from './collections.ts'
import { describeDocument } from './describe.ts'
import { createFeed } from './feed.ts'
import { notFoundBody, searchBody } from './guide.page.ts'
import { CLIENT_ADDRESS, readChangelog, readClient } from './guides.ts'
import { assets, DOCS_PREFIX, FEED_ADDRESS, renderPage } from './layout.ts'
import { listForAssistants } from './llms.ts'
import type { OpenApiDocument } from './openapi-document.ts'
import { createLazily, prerender, sendPrerendered } from './prerendered.ts'
import type { Reference } from './reference.page.ts'
import { searchEntries } from './search-entries.ts'
import { createDocsSite, type DocsSite, MAX_ORIGINS } from './site.ts'

export { DOCS_PREFIX }

/** @property read returns the OpenAPI document. Call it when all routes are registered. */
export type ApiDocument = { name: string; title: string; read: () => object }

/** No inline code, no other origins. Forms are allowed for the search. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')
const MAX_QUERY_LENGTH = 100
const MAX_SUGGESTIONS = 5

/**
 * Serves the documentation under `/docs`: guides, and for each interface a reference (`/docs/<name>`), the OpenAPI document
 * (`/docs/<name>/openapi.json`, `.yaml`), and collections for Bruno and
 * Postman (`/docs/<name>/bruno.json`, `postman.json`). `/llms.txt` lists the guides as Markdown for
 * assistants, `/docs/changes.atom` the releases. It is public, so each file is rendered once, on its first request. Pages work offline and without
 * JavaScript.
 */
export async function docs(app: FastifyInstance, documents: ApiDocument[]): Promise<void> {
  const references = documents.map(({ name, title, read }) => {
    const document = createLazily(() => read() as OpenApiDocument)
    const address = `${DOCS_PREFIX}/${name}`
    return { name, title, address, document, description: createLazily(() => describeDocument(document())) }
  })
  for (const { name, address, document, description } of references) {
    const openapi = (origin: string) => ({
      ...document(),
      servers: [{ url: origin, description: 'Where this document was found' }],
    })
    serveForOrigin(app, `${address}/openapi.json`, 'application/json', (origin) => JSON.stringify(openapi(origin)))
    serveForOrigin(app, `${address}/openapi.yaml`, 'application/yaml', async (origin) => {
      const { stringify } = await import('yaml')
      return stringify(openapi(origin), { aliasDuplicateObjects: false, lineWidth: 0 })
    })
    const bruno = (origin: string) => JSON.stringify(toBruno(description(), origin))
    serveForOrigin(app, `${address}/bruno.json`, 'application/json', bruno, `${name}-bruno.json`)
    const postman = (origin: string) => JSON.stringify(toPostman(description(), origin))
    serveForOrigin(app, `${address}/postman.json`, 'application/json', postman, `${name}-postman.json`)
  }
  const site = createLazily(() =>
    createDocsSite(
      references.map(
        ({ name, title, address, description }): Reference => ({ name, title, address, description: description() }),
      ),
    ),
  )
  serveForOrigin(app, '/llms.txt', 'text/plain', (origin) => listForAssistants(site().groups, references, origin))
  serveForOrigin(app, FEED_ADDRESS, 'application/atom+xml', (origin) => createFeed(readChangelog(), origin))
  await app.register((scope) => servePages(scope, site), { prefix: DOCS_PREFIX })
}

/** Serves a text that contains the origin under which the client reached the service. @param file name for the download. */
function serveForOrigin(
  app: FastifyInstance,
  address: string,
  type: string,
  create: (origin: string) => string | Promise<string>,
  file?: string,
): void {
  const cache = new LRUCache<string, ReturnType<typeof prerender>>({ max: MAX_ORIGINS })
  app.get(address, async (request, reply) => {
    const origin = requestOrigin(request)
    const text = cache.get(origin) ?? prerender(await create(origin))
    cache.set(origin, text)
    if (file) reply.header('content-disposition', `attachment; filename="${file}"`)
    return sendPrerendered(request, reply, type, text)
  })
}

async function servePages(app: FastifyInstance, site: () => DocsSite): Promise<void> {
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('content-security-policy', CONTENT_SECURITY_POLICY)
  })
  serveAssets(app, DOCS_PREFIX, assets)
  const index = createLazily(() =>
    prerender(JSON.stringify(site().entries.map(({ title, where, address }) => ({ title, where, address })))),
  )
  app.get('/search.json', (request, reply) => sendPrerendered(request, reply, 'application/json', index()))
  app.get<{ Querystring: { q?: string | string[] } }>('/search', async (request, reply) => {
    const query = String(request.query.q ?? '')
      .trim()
      .slice(0, MAX_QUERY_LENGTH)
    const { menu, entries, withAddresses } = site()
    const page = {
      title: 'Search',
      address: `${DOCS_PREFIX}/search`,
      query,
      body: () => searchBody(query, searchEntries(entries, query)),
    }
    return reply.type('text/html; charset=utf-8').send(withAddresses(toText(renderPage(menu, page)), requestOrigin(request)))
  })
  const client = createLazily(readClient)
  app.get(CLIENT_ADDRESS, async (request, reply) => {
    const file = client()
    return file ? reply.type('application/gzip').send(file) : sendNotFound(reply, request.url, site())
  })
  const send = async (request: FastifyRequest, reply: FastifyReply) => {
    const address = request.url.replace(/\?.*/, '').replace(/\/$/, '')
    const file = site().files.get(address)
    if (!file) return sendNotFound(reply, address, site())
    return sendPrerendered(
      request,
      reply,
      file.type,
      file.text(() => requestOrigin(request)),
    )
  }
  app.get('/', send)
  app.get('/*', send)
}

function sendNotFound(reply: FastifyReply, address: string, { menu, entries }: DocsSite): FastifyReply {
  const words =
    /[^/]*$/
      .exec(address)![0]
      .slice(0, MAX_QUERY_LENGTH)
      .match(/[a-z\d]+/gi) ?? []
  const suggestions = searchEntries(entries, words.join(' ')).slice(0, MAX_SUGGESTIONS)
  const page = { title: 'Page not found', address, body: () => notFoundBody(suggestions) }
  return reply
    .code(404)
    .type('text/html; charset=utf-8')
    .send(toText(renderPage(menu, page)))
}

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { toText } from '../../html/html.ts'
import { requestOrigin } from '../addresses/address.ts'
import { serveAssets } from '../pages/assets.ts'
import { toBruno } from './bruno.ts'
import { describeDocument } from './describe.ts'
import { findEntries } from './find.ts'
import { notFoundBody, searchBody } from './guide.page.ts'
import { CLIENT_ADDRESS, readClient } from './guides.ts'
import { assets, DOCS_PREFIX, renderPage } from './layout.ts'
import type { OpenApiDocument } from './openapi-document.ts'
import { once, prerender, sendPrerendered } from './prerendered.ts'
import type { Reference } from './reference.page.ts'
import { KEPT_ORIGINS, makeSite, type Site } from './site.ts'

export { DOCS_PREFIX }

/** One interface's OpenAPI document, as it is once all routes are known. */
export type ApiDocument = { name: string; title: string; read: () => object }

/** Nothing inline, nothing from elsewhere; a form may search. */
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
/** What is offered where there is no page. */
const NEAR = 5

/**
 * The documentation under `/docs`: the guides, and each interface's reference under `/docs/<name>`, made of its OpenAPI document; that is under
 * `/docs/<name>/openapi.json`, and what Bruno imports under `/docs/<name>/bruno.json`. It is open to all: what it sends is made once, when it is
 * first asked for. Its pages work offline, and read without JavaScript.
 */
export async function docs(app: FastifyInstance, documents: ApiDocument[]): Promise<void> {
  const references = documents.map(({ name, title, read }) => {
    const document = once(() => read() as OpenApiDocument)
    const address = `${DOCS_PREFIX}/${name}`
    return { name, title, address, document, description: once(() => describeDocument(document())) }
  })
  for (const { name, address, document, description } of references) {
    serveForOrigin(app, `${address}/openapi.json`, (origin) => ({
      ...document(),
      servers: [{ url: origin, description: 'Where this document was found' }],
    }))
    serveForOrigin(app, `${address}/bruno.json`, (origin) => toBruno(description(), origin), `${name}-bruno.json`)
  }
  const site = once(() =>
    makeSite(
      references.map(
        ({ name, title, address, description }): Reference => ({ name, title, address, description: description() }),
      ),
    ),
  )
  await app.register((scope) => servePages(scope, site), { prefix: DOCS_PREFIX })
}

/** Serves what says where the service is: as the client reaches it. @param file what it is called where it is kept. */
function serveForOrigin(app: FastifyInstance, address: string, make: (origin: string) => object, file?: string): void {
  const made = new LRUCache<string, ReturnType<typeof prerender>>({ max: KEPT_ORIGINS })
  app.get(address, async (request, reply) => {
    const origin = requestOrigin(request)
    const text = made.get(origin) ?? prerender(JSON.stringify(make(origin)))
    made.set(origin, text)
    if (file) reply.header('content-disposition', `attachment; filename="${file}"`)
    return sendPrerendered(request, reply, 'application/json', text)
  })
}

async function servePages(app: FastifyInstance, site: () => Site): Promise<void> {
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('content-security-policy', CONTENT_SECURITY_POLICY)
  })
  serveAssets(app, DOCS_PREFIX, assets)
  const index = once(() =>
    prerender(JSON.stringify(site().entries.map(({ title, where, address }) => ({ title, where, address })))),
  )
  app.get('/search.json', (request, reply) => sendPrerendered(request, reply, 'application/json', index()))
  app.get<{ Querystring: { q?: string | string[] } }>('/search', async (request, reply) => {
    const asked = String(request.query.q ?? '')
      .trim()
      .slice(0, MAX_QUERY_LENGTH)
    const { menu, entries, withAddresses } = site()
    const page = {
      title: 'Search',
      address: `${DOCS_PREFIX}/search`,
      query: asked,
      body: () => searchBody(asked, findEntries(entries, asked)),
    }
    return reply.type('text/html; charset=utf-8').send(withAddresses(toText(renderPage(menu, page)), requestOrigin(request)))
  })
  const client = once(readClient)
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

function sendNotFound(reply: FastifyReply, address: string, { menu, entries }: Site): FastifyReply {
  const words =
    /[^/]*$/
      .exec(address)![0]
      .slice(0, MAX_QUERY_LENGTH)
      .match(/[a-z\d]+/gi) ?? []
  const near = findEntries(entries, words.join(' ')).slice(0, NEAR)
  const page = { title: 'Page not found', address, body: () => notFoundBody(near) }
  return reply
    .code(404)
    .type('text/html; charset=utf-8')
    .send(toText(renderPage(menu, page)))
}

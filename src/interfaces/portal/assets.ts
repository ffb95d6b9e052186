import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { FastifyInstance } from 'fastify'
import { PORTAL_PREFIX } from '../../domain/access/account-tokens.ts'

const load = (file: string, type: string) => {
  const content = readFileSync(path.join(import.meta.dirname, 'assets', file))
  const name = file.replace(/(\.\w+)$/, `.${hash('sha256', content).slice(0, 12)}$1`)
  return { content, type, address: `${PORTAL_PREFIX}/assets/${name}` }
}

/** Under an address with a hash of the content: another content has another address. */
export const stylesheet = load('portal.css', 'text/css; charset=utf-8')
export const script = load('portal.js', 'text/javascript; charset=utf-8')
export const icon = load('icon.svg', 'image/svg+xml')

/** What the pages load, kept by browsers for good. */
export function serveAssets(app: FastifyInstance): void {
  for (const { content, type, address } of [stylesheet, script, icon])
    app.get(address.slice(PORTAL_PREFIX.length), async (_request, reply) =>
      reply.header('cache-control', 'public, max-age=31536000, immutable').type(type).send(content),
    )
}

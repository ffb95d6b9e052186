import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { FastifyInstance } from 'fastify'

/** A file that pages load. */
export type Asset = { content: Buffer; type: string; address: string }

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}
/** What src/bundle.ts makes. */
const BUNDLES = path.join(import.meta.dirname, '../generated/browser')
const ICON = path.join(import.meta.dirname, 'assets/icon.svg')

/** What the pages of an interface load. @param prefix where the interface stands. @param name of its folder. */
export function loadAssets(prefix: string, name: string) {
  const load = (file: string) => loadAsset(prefix, file)
  return {
    stylesheet: load(path.join(BUNDLES, `${name}.css`)),
    script: load(path.join(BUNDLES, `${name}.js`)),
    icon: loadIcon(prefix),
  }
}

/** The icon of all pages: without one, browsers ask for /favicon.ico. */
export const loadIcon = (prefix: string): Asset => loadAsset(prefix, ICON)

/** Under an address with a hash of the content: another content has another address. */
function loadAsset(prefix: string, file: string): Asset {
  const content = readFileSync(file)
  const { name, ext } = path.parse(file)
  return { content, type: TYPES[ext]!, address: `${prefix}/assets/${name}.${hash('sha256', content).slice(0, 12)}${ext}` }
}

/** Serves them in the scope of the prefix, to be kept by browsers for good. */
export function serveAssets(app: FastifyInstance, prefix: string, assets: Record<string, Asset>): void {
  for (const { content, type, address } of Object.values(assets))
    app.get(address.slice(prefix.length), async (_request, reply) =>
      reply.header('cache-control', 'public, max-age=31536000, immutable').type(type).send(content),
    )
}

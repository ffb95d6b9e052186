import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { takesGzip } from '../sending/compression.ts'

/** A file that pages load. */
export type Asset = { content: Buffer; type: string; address: string }

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}
/** They are compressed as they are. */
const COMPRESSED = new Set(['font/woff2'])
const MIN_COMPRESSED_BYTES = 1_024
/** What src/bundle.ts makes. */
const BUNDLES = path.join(import.meta.dirname, '../../generated/browser')
const ICON = path.join(import.meta.dirname, 'assets/icon.svg')

/** What the pages of an interface load. @param prefix where the interface stands. @param name of its script. */
export function loadAssets(prefix: string, name: string) {
  const script = loadScript(prefix, name)
  return { ...loadLook(prefix), script, ...loadParts(prefix, script) }
}

/** A script without what it loads by itself. */
export const loadScript = (prefix: string, name: string): Asset => loadAsset(prefix, path.join(BUNDLES, `${name}.js`))

/** The files that a script loads by itself, and those that they load: by their names, which have a hash of the content. */
export function loadParts(prefix: string, script: Asset): Record<string, Asset> {
  const parts: Record<string, Asset> = {}
  const find = ({ content }: Asset): void => {
    for (const [, file] of content.toString().matchAll(/["']\.\/([\w.-]+\.js)["']/g)) {
      if (parts[file!]) continue
      const found = { content: readFileSync(path.join(BUNDLES, file!)), type: TYPES['.js']!, address: `${prefix}/assets/${file}` }
      parts[file!] = found
      find(found)
    }
  }
  find(script)
  return parts
}

/** What all pages look like. The fonts' addresses stand in the stylesheet. */
export const loadLook = (prefix: string) => ({
  stylesheet: loadAsset(prefix, path.join(BUNDLES, 'pages.css')),
  icon: loadIcon(prefix),
  ...loadFonts(prefix),
})

function loadFonts(prefix: string): Record<string, Asset> {
  const files = readdirSync(BUNDLES).filter((file) => file.endsWith('.woff2'))
  const load = (file: string) => readFileSync(path.join(BUNDLES, file))
  return Object.fromEntries(
    files.map((file) => [file, { content: load(file), type: TYPES['.woff2']!, address: `${prefix}/assets/${file}` }]),
  )
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
  for (const { content, type, address } of Object.values(assets)) {
    const compressed = createCompressed(content)
    app.get(address.slice(prefix.length), async (request, reply) => {
      reply.type(type).headers({ 'cache-control': 'public, max-age=31536000, immutable', vary: 'accept-encoding' })
      if (content.length < MIN_COMPRESSED_BYTES || COMPRESSED.has(type) || !takesGzip(request)) return reply.send(content)
      return reply.header('content-encoding', 'gzip').send(await compressed())
    })
  }
}

/** Compressed when it is first asked for, and once. */
export function createCompressed(content: Buffer): () => Promise<Buffer> {
  let made: Promise<Buffer> | undefined
  return () => {
    made ??= promisify<Buffer, { level: number }, Buffer>(gzip)(content, { level: 9 })
    return made
  }
}

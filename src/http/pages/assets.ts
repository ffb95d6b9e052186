import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { acceptsGzip } from '../sending/compression.ts'

/** Static file of pages. */
export type Asset = { content: Buffer; type: string; address: string }

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}
const ALREADY_COMPRESSED = new Set(['font/woff2'])
const MIN_COMPRESSED_BYTES = 1_024
/** Written by src/bundle.ts. */
const BUNDLES = path.join(import.meta.dirname, '../../generated/browser')
const ICON = path.join(import.meta.dirname, 'assets/icon.svg')

/** Assets of an interface's pages. @param prefix path of the interface. @param name its script without extension. */
export function loadAssets(prefix: string, name: string) {
  const script = loadScript(prefix, name)
  return { ...loadSharedAssets(prefix), script, ...loadChunks(prefix, script) }
}

/** A script without its chunks. */
export const loadScript = (prefix: string, name: string): Asset => loadAsset(prefix, path.join(BUNDLES, `${name}.js`))

/** Chunks that a script imports, recursively, by file name. The names contain a hash. */
export function loadChunks(prefix: string, script: Asset): Record<string, Asset> {
  const parts: Record<string, Asset> = {}
  const find = ({ content }: Asset): void => {
    for (const [, file] of content.toString().matchAll(/["']\.\/([\w.-]+\.js)["']/g)) {
      if (parts[file!]) continue
      const part = { content: readShared(path.join(BUNDLES, file!)), type: TYPES['.js']!, address: `${prefix}/assets/${file}` }
      parts[file!] = part
      find(part)
    }
  }
  find(script)
  return parts
}

/** Stylesheet, icon, and fonts of all pages. */
export const loadSharedAssets = (prefix: string) => ({
  stylesheet: loadAsset(prefix, path.join(BUNDLES, 'pages.css')),
  icon: loadIcon(prefix),
  ...loadFonts(prefix),
})

function loadFonts(prefix: string): Record<string, Asset> {
  const files = readdirSync(BUNDLES).filter((file) => file.endsWith('.woff2'))
  return Object.fromEntries(
    files.map((file) => [
      file,
      { content: readShared(path.join(BUNDLES, file)), type: TYPES['.woff2']!, address: `${prefix}/assets/${file}` },
    ]),
  )
}

/** Without an icon, browsers request /favicon.ico. */
export const loadIcon = (prefix: string): Asset => loadAsset(prefix, ICON)

/** The address contains a hash of the content, so that browsers can cache it for good. */
function loadAsset(prefix: string, file: string): Asset {
  const content = readShared(file)
  const { name, ext } = path.parse(file)
  return { content, type: TYPES[ext]!, address: `${prefix}/assets/${name}.${hash('sha256', content).slice(0, 12)}${ext}` }
}

const contents = new Map<string, Buffer>()

/** Reads a file once for all interfaces. */
function readShared(file: string): Buffer {
  const content = contents.get(file) ?? readFileSync(file)
  contents.set(file, content)
  return content
}

/** Serves assets in a scope with this prefix. Browsers cache them for good. */
export function serveAssets(app: FastifyInstance, prefix: string, assets: Record<string, Asset>): void {
  for (const { content, type, address } of Object.values(assets)) {
    app.get(address.slice(prefix.length), async (request, reply) => {
      reply.type(type).headers({ 'cache-control': 'public, max-age=31536000, immutable', vary: 'accept-encoding' })
      if (content.length < MIN_COMPRESSED_BYTES || ALREADY_COMPRESSED.has(type) || !acceptsGzip(request))
        return reply.send(content)
      return reply.header('content-encoding', 'gzip').send(await compress(content))
    })
  }
}

const compressed = new WeakMap<Buffer, Promise<Buffer>>()

/** Compresses a content by gzip, once. */
export function compress(content: Buffer): Promise<Buffer> {
  const result = compressed.get(content) ?? promisify<Buffer, { level: number }, Buffer>(gzip)(content, { level: 9 })
  compressed.set(content, result)
  return result
}

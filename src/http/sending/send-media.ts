import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Asset, readAsset } from '../../domain/assets/assets.ts'
import type { Context, ServiceContext } from '../../domain/context.ts'
import { downloadName, mediaFileName } from '../../domain/files/media-file-name.ts'
import { type MediaFile, readArrivedParts, readMedia } from '../../domain/submissions/media/media.ts'

/** Files chosen by candidates are always downloads. The policy disables scripts in browsers that show them anyway. */
const mediaHeadersOf = ({ fileName, ...media }: MediaFile, disposition: 'inline' | 'attachment') => ({
  'cache-control': 'private, no-store',
  'content-disposition':
    fileName === null
      ? `${disposition}; filename="${mediaFileName(media)}"`
      : `attachment; filename="${mediaFileName(media)}"; filename*=UTF-8''${encodeExtendedValue(downloadName({ ...media, fileName }))}`,
  ...(fileName !== null && { 'content-security-policy': "default-src 'none'; sandbox" }),
  'x-content-type-options': 'nosniff',
})

/** RFC 8187, section 3.2. Browsers replace path separators themselves. */
const encodeExtendedValue = (text: string): string =>
  encodeURIComponent(text).replace(/['()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)

/** Sends the received bytes of a recording that could not be assembled, as a download. */
export function sendPartialMedia(ctx: Context, request: FastifyRequest, reply: FastifyReply, media: MediaFile): FastifyReply {
  reply.type('application/octet-stream').headers(mediaHeadersOf(media, 'attachment'))
  return reply.send(request.method === 'HEAD' ? undefined : Readable.from(readArrivedParts(ctx, media)))
}

/** Sends a photo or a recording, or the requested range. */
export const sendMedia = (
  ctx: Pick<ServiceContext, 'deps'>,
  request: FastifyRequest,
  reply: FastifyReply,
  media: MediaFile,
): Promise<FastifyReply> =>
  sendRange(request, reply.headers(mediaHeadersOf(media, 'inline')), media, (range) => readMedia(ctx, media, range))

/** Milliseconds between checks whether a recording may still be sent. */
const CHECKED_EVERY_MS = 1_000

/** As {@link sendMedia}, but cuts the connection once `isOpen` resolves to false. */
export const sendMediaWhile = (
  ctx: Pick<ServiceContext, 'deps'>,
  request: FastifyRequest,
  reply: FastifyReply,
  media: MediaFile,
  isOpen: () => Promise<boolean>,
): Promise<FastifyReply> =>
  sendRange(request, reply.headers(mediaHeadersOf(media, 'inline')), media, async (range) =>
    Readable.from(readWhile(await readMedia(ctx, media, range), isOpen), { objectMode: false }),
  )

async function* readWhile(content: Readable, isOpen: () => Promise<boolean>): AsyncGenerator<Buffer> {
  let checkedAt = performance.now()
  for await (const chunk of content) {
    if (performance.now() - checkedAt >= CHECKED_EVERY_MS) {
      if (!(await isOpen())) throw new Error('The recording may no longer be sent')
      checkedAt = performance.now()
    }
    yield chunk as Buffer
  }
}

/** The content of an id never changes. An hour is longer than anybody looks at a question. */
const IMAGE_MAX_AGE_SECONDS = 3_600

/** Sends an image, sound, or video of a question, or the requested range. */
export function sendAsset(
  ctx: Pick<ServiceContext, 'deps'>,
  request: FastifyRequest,
  reply: FastifyReply,
  asset: Asset,
): Promise<FastifyReply> {
  reply.headers({
    'cache-control': asset.kind === 'image' ? `private, max-age=${IMAGE_MAX_AGE_SECONDS}` : 'private, no-store',
    'content-disposition': 'inline',
    'x-content-type-options': 'nosniff',
  })
  return sendRange(request, reply, asset, (range) => readAsset(ctx, asset, range))
}

/**
 * Sends a logo. It is cached for good, because a new logo has a new address. Webmail may embed it (cross-origin). The sandbox policy
 * disables scripts in an SVG.
 */
export function sendLogo(
  ctx: Pick<ServiceContext, 'deps'>,
  request: FastifyRequest,
  reply: FastifyReply,
  logo: Asset,
): Promise<FastifyReply> {
  reply.headers({
    'cache-control': 'public, max-age=31536000, immutable',
    'content-disposition': 'inline',
    'content-security-policy': "default-src 'none'; sandbox",
    'cross-origin-resource-policy': 'cross-origin',
    'x-content-type-options': 'nosniff',
  })
  return sendRange(request, reply, logo, (range) => readAsset(ctx, logo, range))
}

async function sendRange(
  request: FastifyRequest,
  reply: FastifyReply,
  { contentType, bytes: size }: { contentType: string; bytes: bigint },
  read: (range: ByteRange | undefined) => Promise<Readable>,
): Promise<FastifyReply> {
  const bytes = Number(size)
  const range = findRange(request.headers, bytes)
  reply.type(contentType).header('accept-ranges', 'bytes')
  if (range === 'unsatisfiable') return reply.code(416).header('content-range', `bytes */${bytes}`).send()
  const { start, end } = range ?? { start: 0, end: bytes - 1 }
  if (range) reply.code(206).header('content-range', `bytes ${start}-${end}/${bytes}`)
  reply.header('content-length', end - start + 1)
  return reply.send(request.method === 'HEAD' ? undefined : await read(range))
}

/** Positions of the first and the last byte, inclusive. */
type ByteRange = { start: number; end: number }

/**
 * Reads `Range` (RFC 9110, section 14). Only a single range of bytes is supported. `If-Range` is answered with the whole content, because
 * contents have no validators.
 *
 * @param size bytes of the content, at least 1.
 * @returns undefined for the whole content.
 */
function findRange(headers: IncomingHttpHeaders, size: number): ByteRange | 'unsatisfiable' | undefined {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(headers.range ?? '') ?? []
  if (first === undefined || last === undefined || headers['if-range'] !== undefined || first + last === '') return undefined
  if (first === '') {
    const length = Math.min(Number(last), size)
    return length > 0 ? { start: size - length, end: size - 1 } : 'unsatisfiable'
  }
  const start = Number(first)
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (last !== '' && Number(last) < start) return undefined
  return start < size ? { start, end } : 'unsatisfiable'
}

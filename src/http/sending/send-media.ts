import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Asset, readAsset } from '../../domain/assets/assets.ts'
import type { Context, ServiceContext } from '../../domain/context.ts'
import { mediaFileName } from '../../domain/files/media-file-name.ts'
import { type MediaFile, readArrived, readMedia } from '../../domain/submissions/media/media.ts'
import { type ByteRange, findRange } from './range.ts'

const headersOf = (media: MediaFile, how: 'inline' | 'attachment') => ({
  'cache-control': 'private, no-store',
  'content-disposition': `${how}; filename="${mediaFileName(media)}"`,
  'x-content-type-options': 'nosniff',
})

/** Sends what has arrived of a recording that could not be made one file, to be kept and looked at with other programs. */
export function sendArrived(ctx: Context, request: FastifyRequest, reply: FastifyReply, media: MediaFile): FastifyReply {
  reply.type('application/octet-stream').headers(headersOf(media, 'attachment'))
  return reply.send(request.method === 'HEAD' ? undefined : Readable.from(readArrived(ctx, media)))
}

/** Sends a photo or a recording, or the range of it that is asked for. @param ctx what reads it. */
export const sendMedia = (
  ctx: Pick<ServiceContext, 'deps'>,
  request: FastifyRequest,
  reply: FastifyReply,
  media: MediaFile,
): Promise<FastifyReply> =>
  sendRange(request, reply.headers(headersOf(media, 'inline')), media, (range) => readMedia(ctx, media, range))

/** Pictures stay what they are under their ids: a browser may keep them for its own user, for as long as somebody looks at a question. */
const KEPT_SECONDS = 3_600

/** Sends what a question shows, or the range of it that is asked for. @param ctx what reads it. */
export function sendAsset(
  ctx: Pick<ServiceContext, 'deps'>,
  request: FastifyRequest,
  reply: FastifyReply,
  asset: Asset,
): Promise<FastifyReply> {
  reply.headers({
    'cache-control': asset.kind === 'image' ? `private, max-age=${KEPT_SECONDS}` : 'private, no-store',
    'content-disposition': 'inline',
    'x-content-type-options': 'nosniff',
  })
  return sendRange(request, reply, asset, (range) => readAsset(ctx, asset, range))
}

/**
 * Sends a logo, to be kept for good: another one has another address. Mail programs in browsers show it on pages of their own. Opened by
 * itself it is a picture and nothing else.
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

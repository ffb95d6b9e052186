import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ServiceContext } from '../../domain/context.ts'
import { DomainError } from '../../domain/errors.ts'
import { readInvitation } from '../../domain/invites/tokens.ts'
import { MAX_PART_BYTES, MAX_PARTS, MAX_PHOTO_BYTES, MAX_SEGMENTS } from '../../domain/limits.ts'
import { PHOTOS } from '../../domain/submissions/needs.ts'
import { putPart } from '../../domain/submissions/parts.ts'
import { PHOTO_KINDS, putPhoto, readOwnPhoto } from '../../domain/submissions/photos.ts'
import {
  abandonRecording,
  beginCapture,
  beginTake,
  CAPTURES,
  completeRecording,
  RECORDED_KINDS,
} from '../../domain/submissions/recordings.ts'
import { enterByTab, enterSession, type PreparedSession, requirePrepared } from '../../domain/submissions/session.ts'
import { Words } from '../../http/field-types.ts'
import type { TypedApp } from '../../http/typed-app.ts'

type Options = { system: ServiceContext; secretKeys: readonly string[] }

const Token = { token: Type.String() }
const QuestionParams = Type.Object({ ...Token, number: Type.String({ pattern: '^[1-9]\\d{0,8}$' }) })
const MediaParams = Type.Object({ ...Token, mediaId: Type.String() })
const PartParams = Type.Object({
  ...Token,
  mediaId: Type.String(),
  segment: Type.String({ pattern: '^(0|[1-9]\\d{0,2})$' }),
  number: Type.String({ pattern: '^(0|[1-9]\\d{0,4})$' }),
})
const CompleteBody = Type.Object({
  segments: Type.Array(Type.Integer({ minimum: 0, maximum: MAX_PARTS }), { minItems: 1, maxItems: MAX_SEGMENTS }),
  incomplete: Type.Optional(Type.Boolean()),
})
const Photo = Type.Object({ ...Token, kind: Words(PHOTO_KINDS) })
const OwnPhoto = Type.Object({ ...Token, kind: Words(PHOTOS) })

/** What candidates record and photograph. Its scope is within that of session.routes.ts, whose bodies are JSON. */
export async function mediaRoutes(app: FastifyInstance, options: Options): Promise<void> {
  recordingRoutes(app, options)
  await app.register(async (scope) => contentRoutes(scope, options))
}

/** Beginning and ending recordings. */
function recordingRoutes(scope: FastifyInstance, options: Options): void {
  const app: TypedApp = scope.withTypeProvider()
  const enter = enterFor(options)

  app.post(
    '/questions/:number/takes',
    { schema: { params: QuestionParams, body: Type.Object({ kind: Words(RECORDED_KINDS) }) } },
    async (request, reply) => {
      const begun = await beginTake(await enter(request), Number(request.params.number), request.body.kind)
      return reply.code(201).send(begun)
    },
  )

  app.post('/media', { schema: { body: Type.Object({ kind: Words(CAPTURES) }) } }, async (request, reply) =>
    reply.code(201).send(await beginCapture(await enter(request), request.body.kind)),
  )

  app.post('/media/:mediaId/complete', { schema: { params: MediaParams, body: CompleteBody } }, async (request, reply) => {
    await completeRecording(await enter(request), request.params.mediaId, request.body)
    return reply.code(202).send({})
  })

  app.post('/media/:mediaId/abandon', { schema: { params: MediaParams } }, async (request, reply) => {
    await abandonRecording(await enter(request), request.params.mediaId)
    return reply.code(204).send()
  })
}

/** What is recorded itself: bytes. Only whoever has a link gets the service to read them. */
function contentRoutes(scope: FastifyInstance, options: Options): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser(
    ['application/octet-stream', 'image/jpeg'],
    { parseAs: 'buffer' },
    async (_request: unknown, body: Buffer) => body,
  )
  scope.addHook('onRequest', async (request) => void refOf(options, request))
  const app: TypedApp = scope.withTypeProvider()
  const enter = enterFor(options)

  app.put(
    '/media/:mediaId/parts/:segment/:number',
    { schema: { params: PartParams }, bodyLimit: MAX_PART_BYTES },
    async (request, reply) => {
      const { mediaId, segment, number } = request.params
      const part = { mediaId, segment: Number(segment), number: Number(number), content: contentOf(request) }
      await putPart(options.system, refOf(options, request), tabOf(request), part)
      return reply.code(204).send()
    },
  )

  app.put('/photos/:kind', { schema: { params: Photo }, bodyLimit: MAX_PHOTO_BYTES }, async (request, reply) => {
    await putPhoto(await enter(request), request.params.kind, contentOf(request))
    return reply.code(204).send()
  })

  app.get('/photos/:kind', { schema: { params: OwnPhoto } }, async (request, reply) => {
    const session = await enterSession(options.system, refOf(options, request))
    requirePrepared(session)
    const { media, content } = await readOwnPhoto(session, request.params.kind)
    return reply
      .type(media.contentType)
      .headers({ 'content-length': Number(media.bytes), 'cache-control': 'private, no-store' })
      .send(content)
  })

  /** To measure how fast a candidate's uploads are. */
  app.post('/speed', { bodyLimit: MAX_PART_BYTES }, async (_request, reply) => reply.code(204).send())
}

/** A session in which the request's tab may write. */
const enterFor =
  (options: Options) =>
  async (request: AnyRequest): Promise<PreparedSession> => {
    const session = await enterSession(options.system, refOf(options, request))
    requirePrepared(session)
    return enterByTab(session, tabOf(request))
  }

type AnyRequest = Pick<FastifyRequest, 'headers'> & { params: unknown }

const tabOf = ({ headers }: Pick<FastifyRequest, 'headers'>) => headers['x-tab']?.toString()

/** @throws DomainError invite_not_found for what is no link of ours. */
function refOf({ secretKeys }: Options, { params }: AnyRequest) {
  const ref = readInvitation(secretKeys, (params as { token: string }).token)
  if (!ref) throw new DomainError('invite_not_found')
  return ref
}

/** The body, empty if there is none. */
const contentOf = ({ body }: { body: unknown }): Buffer => (Buffer.isBuffer(body) ? body : Buffer.alloc(0))

import { Readable } from 'node:stream'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { readAsset } from '../../../domain/assets/assets.ts'
import type { ServiceContext } from '../../../domain/context.ts'
import { DomainError } from '../../../domain/errors.ts'
import { MAX_PART_BYTES, MAX_PARTS, MAX_PHOTO_BYTES, MAX_SEGMENTS } from '../../../domain/limits.ts'
import { RECORDED_KINDS } from '../../../domain/ports/question-kind.ts'
import { readInvitation } from '../../../domain/secrets/invitation-tokens.ts'
import { readPlay } from '../../../domain/secrets/play-tokens.ts'
import { PHOTOS } from '../../../domain/submissions/needs.ts'
import { stopAttempt } from '../../../domain/submissions/taking/choose-attempt.ts'
import { HEADPHONE_CHECKS, recordPromptTiming } from '../../../domain/submissions/taking/prompt-timing.ts'
import { bindToTab, enterSession, type PreparedSession, requirePrepared } from '../../../domain/submissions/taking/session.ts'
import { type UsedPlay, usePlay } from '../../../domain/submissions/taking/use-play.ts'
import { beginFile, MAX_FILE_PARTS } from '../../../domain/submissions/uploads/answer-files.ts'
import { checkPart, putPart } from '../../../domain/submissions/uploads/put-part.ts'
import { checkPhoto, PHOTO_KINDS, putPhoto, readCandidatePhoto } from '../../../domain/submissions/uploads/put-photo.ts'
import {
  abandonRecording,
  beginAttempt,
  beginCapture,
  CAPTURES,
  completeRecording,
  continueAttempt,
  findPlayableAttempt,
} from '../../../domain/submissions/uploads/recordings.ts'
import { HttpError } from '../../../http/errors/failure.ts'
import { createConcurrencyLimiter } from '../../../http/limits/concurrency-limiter.ts'
import type { TypedApp } from '../../../http/requests/typed-app.ts'
import { StringEnum } from '../../../http/schema/field-types.ts'
import { sendMedia } from '../../../http/sending/send-media.ts'
import type { Options } from '../kit/settings.ts'
import { Ago, readTab } from './tab-requests.ts'

/** A day. */
const MAX_TIMING_MS = 86_400_000

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
const AttemptBody = Type.Object({ kind: StringEnum(RECORDED_KINDS), restart: Type.Optional(Type.Boolean()) })
const FileBody = Type.Object({
  name: Type.String({ maxLength: 1_000 }),
  bytes: Type.Integer({ minimum: 1 }),
  parts: Type.Integer({ minimum: 1, maximum: MAX_FILE_PARTS }),
})
const ContinueBody = Type.Object({ segment: Type.Integer({ minimum: 0, maximum: MAX_SEGMENTS }) })
const Milliseconds = () => Type.Number({ minimum: -MAX_TIMING_MS, maximum: MAX_TIMING_MS })
const PromptTimingBody = Type.Object(
  {
    segment: Type.Integer({ minimum: 0, maximum: MAX_SEGMENTS - 1 }),
    zero: Milliseconds(),
    from: Milliseconds(),
    elapsed: Type.Union([Milliseconds(), Type.Null()]),
    headphones: StringEnum(HEADPHONE_CHECKS),
  },
  { additionalProperties: false },
)
const PlayParams = Type.Object({ ...Token, link: Type.String(), kind: StringEnum(RECORDED_KINDS) })
const Photo = Type.Object({ ...Token, kind: StringEnum(PHOTO_KINDS) })
const OwnPhoto = Type.Object({ ...Token, kind: StringEnum(PHOTOS) })

/** Begins and ends recordings. @param enter enters the session if the request's tab may write. */
export function recordingRoutes(
  app: TypedApp,
  enter: (request: Pick<FastifyRequest, 'headers' | 'session'>) => Promise<PreparedSession>,
): void {
  app.post('/questions/:number/attempts', { schema: { params: QuestionParams, body: AttemptBody } }, async (request, reply) => {
    const { kind, restart } = request.body
    const attempt = await beginAttempt(await enter(request), Number(request.params.number), kind, restart)
    return reply.code(201).send(attempt)
  })

  app.post('/questions/:number/files', { schema: { params: QuestionParams, body: FileBody } }, async (request, reply) =>
    reply.code(201).send(await beginFile(await enter(request), Number(request.params.number), request.body)),
  )

  app.post('/media/:mediaId/continue', { schema: { params: MediaParams, body: ContinueBody } }, async (request) =>
    continueAttempt(await enter(request), request.params.mediaId, request.body.segment),
  )

  app.post('/media', { schema: { body: Type.Object({ kind: StringEnum(CAPTURES) }) } }, async (request, reply) =>
    reply.code(201).send(await beginCapture(await enter(request), request.body.kind)),
  )

  app.post('/media/:mediaId/complete', { schema: { params: MediaParams, body: CompleteBody } }, async (request, reply) => {
    await completeRecording(await enter(request), request.params.mediaId, request.body)
    return reply.code(202).send({})
  })

  app.post(
    '/media/:mediaId/stop',
    { schema: { params: MediaParams, body: Type.Object({ ago: Ago() }) } },
    async (request, reply) => {
      await stopAttempt(await enter(request), request.params.mediaId, request.body.ago)
      return reply.code(204).send()
    },
  )

  app.post(
    '/media/:mediaId/prompt-timing',
    { schema: { params: MediaParams, body: PromptTimingBody } },
    async (request, reply) => {
      const { segment, ...timing } = request.body
      await recordPromptTiming(await enter(request), request.params.mediaId, segment, timing)
      return reply.code(204).send()
    },
  )

  app.post('/media/:mediaId/abandon', { schema: { params: MediaParams } }, async (request, reply) => {
    await abandonRecording(await enter(request), request.params.mediaId)
    return reply.code(204).send()
  })
}

/** Concurrent uploads per link. A browser sends one part of each recording, and sometimes a photo. */
const MAX_UPLOADS = 4

/**
 * Routes for recorded bytes. They are read only after question, state, and size were checked, and only a few at a time for each
 * link.
 */
export async function contentRoutes(scope: FastifyInstance, options: Options): Promise<void> {
  const { readBody } = options
  const takeSlot = createConcurrencyLimiter(MAX_UPLOADS)
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser(['application/octet-stream', 'image/jpeg'], readBody)
  scope.addHook('onRequest', async (request, reply) => {
    if (request.is404) return
    const { inviteId } = refOf(options, request)
    if (request.method !== 'GET' && request.method !== 'HEAD') takeSlot(inviteId, reply)
  })
  const app: TypedApp = scope.withTypeProvider()
  partRoutes(app, options)
  photoRoutes(app, options)
  attemptRoutes(app, options)
  playRoutes(app, options)
  app.post(
    '/speed',
    {
      bodyLimit: MAX_PART_BYTES,
      async onRequest(request, reply) {
        const { ctx } = await enter(options, request)
        expectFrom(options, request, reply, ctx.organization.id)
      },
    },
    /** Route to measure the upload speed. */
    async (_request, reply) => reply.code(204).send(),
  )
}

async function enter(options: Options, request: AnyRequest): Promise<PreparedSession> {
  const session = await enterSession(options.system, refOf(options, request))
  requirePrepared(session)
  return session
}

function expectFrom(options: Options, request: FastifyRequest, reply: FastifyReply, organization: string): void {
  request.bodySource = { organization, sender: refOf(options, request).inviteId, answer: reply.raw }
}

function partRoutes(app: TypedApp, options: Options): void {
  const { system } = options
  app.put(
    '/media/:mediaId/parts/:segment/:number',
    {
      schema: { params: PartParams },
      bodyLimit: MAX_PART_BYTES,
      config: { hasOwnQueue: true },
      async onRequest(request, reply) {
        if (!isPart(request.params)) throw new HttpError('malformed_request')
        const part = { ...partOf(request.params), bytes: lengthOf(request) }
        const { organizationId } = await checkPart(system, refOf(options, request), readTab(request), part)
        expectFrom(options, request, reply, organizationId)
      },
    },
    async (request, reply) => {
      const part = { ...partOf(request.params), content: contentOf(request) }
      await putPart(system, refOf(options, request), readTab(request), part)
      return reply.code(204).send()
    },
  )
}

function photoRoutes(app: TypedApp, options: Options): void {
  app.put(
    '/photos/:kind',
    {
      schema: { params: Photo },
      bodyLimit: MAX_PHOTO_BYTES,
      config: { hasOwnQueue: true },
      async onRequest(request, reply) {
        const session = bindToTab(await enter(options, request), readTab(request))
        const kind = PHOTO_KINDS.find((photoKind) => photoKind === request.params.kind)
        if (!kind) throw new HttpError('malformed_request')
        checkPhoto(session, kind, lengthOf(request))
        request.session = session
        expectFrom(options, request, reply, session.ctx.organization.id)
      },
    },
    async (request, reply) => {
      await putPhoto(request.session, request.params.kind, contentOf(request))
      return reply.code(204).send()
    },
  )

  app.get('/photos/:kind', { schema: { params: OwnPhoto } }, async (request, reply) => {
    const { media, content } = await readCandidatePhoto(await enter(options, request), request.params.kind)
    return reply
      .type(media.contentType)
      .headers({ 'content-length': Number(media.bytes), 'cache-control': 'private, no-store' })
      .send(content)
  })
}

/** Serves a candidate's own attempts at the open question. */
function attemptRoutes(app: TypedApp, options: Options): void {
  app.get('/media/:mediaId', { schema: { params: MediaParams } }, async (request, reply) => {
    const session = await enter(options, request)
    return sendMedia(session.ctx, request, reply, await findPlayableAttempt(session, request.params.mediaId))
  })
}

/** Serves media of a question by the link of a granted play. No ranges, because they could not be attributed to a play. */
function playRoutes(app: TypedApp, options: Options): void {
  const { system, settings } = options
  app.get('/plays/:link/:kind', { schema: { params: PlayParams }, exposeHeadRoute: false }, async (request, reply) => {
    const { link, kind } = request.params
    const play = await usePlay(await enter(options, request), readPlay(settings.secretKeys, link), kind)
    const content = await readPlayed(system, play)
    const { contentType, bytes } = play.asset
    const countedContent = refundUnlessSent(system, play, content, reply)
    if (reply.raw.destroyed) return reply.hijack()
    // Proxies must not buffer the file: an interrupted download would count as played.
    const headers = { 'cache-control': 'private, no-store', 'x-content-type-options': 'nosniff', 'x-accel-buffering': 'no' }
    return reply
      .type(contentType)
      .headers({ ...headers, 'content-length': Number(bytes) })
      .send(countedContent)
  })
}

async function readPlayed(system: ServiceContext, { asset, giveBack }: UsedPlay): Promise<Readable> {
  try {
    return await readAsset(system, asset)
  } catch (error) {
    await giveBack()
    throw error
  }
}

/**
 * Gives the play back if the response closes before all bytes are sent, even while the file was being opened.
 *
 * @returns the content to send.
 */
function refundUnlessSent(system: ServiceContext, play: UsedPlay, content: Readable, { raw }: FastifyReply): Readable {
  // Counts bytes when they are sent: the client may close the connection before we learn of the last one's arrival.
  let bytesSent = 0
  async function* countBytes() {
    for await (const piece of content) {
      bytesSent += piece.length
      yield piece
    }
  }
  const end = () => {
    content.destroy()
    if (bytesSent >= Number(play.asset.bytes)) return
    play.giveBack().catch((err: unknown) => system.deps.log.error({ err }, 'an interrupted playback could not be refunded'))
  }
  if (raw.destroyed) end()
  else raw.once('close', end)
  return Readable.from(countBytes(), { objectMode: false })
}

type AnyRequest = { params: unknown }

/** @throws DomainError invite_not_found for an invalid link. */
function refOf({ settings }: Options, { params }: AnyRequest) {
  const ref = readInvitation(settings.secretKeys, (params as { token: string }).token)
  if (!ref) throw new DomainError('invite_not_found')
  return ref
}

/** The body, empty if there is none. */
const contentOf = ({ body }: { body: unknown }): Buffer => (Buffer.isBuffer(body) ? body : Buffer.alloc(0))

/** Declared length of the body. */
const lengthOf = ({ headers }: Pick<FastifyRequest, 'headers'>): number => Number(headers['content-length'] ?? 0)

/** Runs before the schema's validation. */
const isPart = (params: unknown): params is Static<typeof PartParams> => Value.Check(PartParams, params)

const partOf = ({ mediaId, segment, number }: Static<typeof PartParams>) => ({
  mediaId,
  segment: Number(segment),
  number: Number(number),
})

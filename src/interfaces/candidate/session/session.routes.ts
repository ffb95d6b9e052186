import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { Ajv } from 'ajv'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { DomainError } from '../../../domain/errors.ts'
import { MAX_NOTES_AT_ONCE, MAX_REVISION } from '../../../domain/limits.ts'
import { readInvitation } from '../../../domain/secrets/invitation-tokens.ts'
import { signPlay } from '../../../domain/secrets/play-tokens.ts'
import { CHECKS } from '../../../domain/submissions/needs.ts'
import { beginAnswering } from '../../../domain/submissions/taking/begin-answering.ts'
import { chooseAttempt } from '../../../domain/submissions/taking/choose-attempt.ts'
import { grantPlay } from '../../../domain/submissions/taking/grant-play.ts'
import { recordPassedChecks } from '../../../domain/submissions/taking/pass-checks.ts'
import { recordSessionEvents, SESSION_EVENT_KINDS } from '../../../domain/submissions/taking/record-session-events.ts'
import { saveText } from '../../../domain/submissions/taking/save-text.ts'
import {
  enterSession,
  type PreparedSession,
  requireInProgress,
  requirePrepared,
} from '../../../domain/submissions/taking/session.ts'
import { takeOverTab } from '../../../domain/submissions/taking/take-over-tab.ts'
import { UUID_PATTERN } from '../../../domain/text/uuid.ts'
import { answerErrors } from '../../../http/errors/envelope.ts'
import { readJsonBodies } from '../../../http/requests/json-body.ts'
import type { TypedApp } from '../../../http/requests/typed-app.ts'
import { StringEnum } from '../../../http/schema/field-types.ts'
import type { Options } from '../kit/settings.ts'
import { TEXT_BODY_LIMIT } from '../pages/taking.routes.ts'
import { contentRoutes, recordingRoutes } from './media.routes.ts'
import { sessionEnvelope } from './session.errors.ts'
import { presentCaptions, presentSession } from './session.view.ts'
import { Ago, enterWithIdempotencyKey } from './tab-requests.ts'

const QuestionParams = Type.Object({ token: Type.String(), number: Type.String({ pattern: '^[1-9]\\d{0,8}$' }) })
const TabBody = Type.Object({ tab: Type.String({ pattern: UUID_PATTERN }) })
const ChecksBody = Type.Object({ passed: Type.Array(StringEnum(CHECKS), { maxItems: CHECKS.length }) })
const NotesBody = Type.Object({
  notes: Type.Array(Type.Object({ kind: StringEnum(SESSION_EVENT_KINDS), ago: Ago() }), {
    maxItems: MAX_NOTES_AT_ONCE,
  }),
})
const TextBody = Type.Object({
  text: Type.String(),
  revision: Type.Integer({ minimum: 1, maximum: MAX_REVISION }),
  ago: Type.Optional(Ago()),
})
const ChoiceBody = Type.Object({ attempt: Type.String({ pattern: UUID_PATTERN }), ago: Ago() })

/** Without coercion. It compiles each schema once. */
const ajv = new Ajv()

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before the body is read. */
    session: PreparedSession
  }
}

/** Routes for the pages' scripts. The link is the credential; only the tab opened last may write. */
export async function sessionRoutes(scope: FastifyInstance, options: Options): Promise<void> {
  const envelope = sessionEnvelope(options.settings.languages)
  answerErrors(scope, () => envelope)
  scope.setValidatorCompiler(({ schema }) => ajv.compile(schema))
  scope.decorateRequest('session')
  await scope.register((childScope) => contentRoutes(childScope, options))
  await scope.register((childScope) => stateRoutes(childScope, options))
}

/** JSON routes. Bodies are read only while the invite's assessment is in progress. */
async function stateRoutes(scope: FastifyInstance, { system, settings, readBody, countText }: Options): Promise<void> {
  readJsonBodies(scope, readBody)
  scope.addHook('onRequest', async (request, reply) => {
    if (request.is404) return
    const ref = readInvitation(settings.secretKeys, (request.params as { token: string }).token)
    if (!ref) throw new DomainError('invite_not_found')
    const session = await enterSession(system, ref)
    requirePrepared(session)
    request.session = session
    request.bodySource = { organization: session.ctx.organization.id, sender: ref.inviteId, answer: reply.raw }
  })
  const app: TypedApp = scope.withTypeProvider<TypeBoxTypeProvider>()

  const enter = async ({ session }: Pick<FastifyRequest, 'session'>): Promise<PreparedSession> => session
  /** Only the tab that the candidate used last may write. */
  const enterToWrite = async (request: Pick<FastifyRequest, 'headers' | 'session'>): Promise<PreparedSession> =>
    enterWithIdempotencyKey(await enter(request), request)
  const enterInProgress = async (request: Pick<FastifyRequest, 'headers' | 'session'>): Promise<PreparedSession> => {
    const session = await enterToWrite(request)
    requireInProgress(session)
    return session
  }

  app.get('/', async (request) => presentSession(await enter(request), settings))

  app.post('/tab', { schema: { body: TabBody } }, async (request) => {
    await takeOverTab(await enter(request), request.body.tab)
    return {}
  })

  app.post('/checks', { schema: { body: ChecksBody } }, async (request, reply) => {
    await recordPassedChecks(await enterToWrite(request), request.body.passed)
    return reply.code(204).send()
  })

  app.post('/notes', { schema: { body: NotesBody } }, async (request, reply) => {
    await recordSessionEvents(await enterInProgress(request), request.body.notes)
    return reply.code(204).send()
  })

  app.put(
    '/questions/:number/text',
    {
      schema: { params: QuestionParams, body: TextBody },
      bodyLimit: TEXT_BODY_LIMIT,
      onRequest: async ({ session }) => countText(session.invite.id),
    },
    async (request) => ({
      saved: await saveText(await enterInProgress(request), Number(request.params.number), request.body),
    }),
  )

  app.post('/questions/:number/plays', { schema: { params: QuestionParams } }, async (request) => {
    const [session, number] = [await enterInProgress(request), Number(request.params.number)]
    const { playsLeft, grantedPlay, captions } = await grantPlay(session, number)
    if (!grantedPlay || session.tab === null) return { playsLeft }
    return {
      playsLeft,
      link: signPlay(settings.secretKeys, { ...grantedPlay, submissionId: session.submission.id, tab: session.tab, number }),
      ...(captions && { captions: presentCaptions(captions) }),
    }
  })

  app.post('/questions/:number/answering', { schema: { params: QuestionParams } }, async (request, reply) => {
    await beginAnswering(await enterInProgress(request), Number(request.params.number))
    return reply.code(204).send()
  })

  app.post('/questions/:number/choice', { schema: { params: QuestionParams, body: ChoiceBody } }, async (request, reply) => {
    await chooseAttempt(await enterInProgress(request), Number(request.params.number), request.body)
    return reply.code(204).send()
  })

  recordingRoutes(app, enterToWrite)
}

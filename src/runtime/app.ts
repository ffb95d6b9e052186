import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import fastify, { type FastifyInstance, LogController } from 'fastify'
import type { Context } from '../domain/context.ts'
import type { InviteEmail } from '../domain/invites/emails.ts'
import type { MemberEmail } from '../domain/mails/member-emails.ts'
import type { RegistrationEmail } from '../domain/open-links/registration-emails.ts'
import { toRoutePath, withoutTrailingSlash } from '../http/addresses/links.ts'
import { trimLinks } from '../http/addresses/trim-links.ts'
import { createIsTrustedProxy } from '../http/addresses/trusted-proxies.ts'
import { reportUntrustedProxies } from '../http/addresses/untrusted-proxies.ts'
import { type ApiDocument, docs } from '../http/docs/docs.ts'
import { answerClientErrors } from '../http/errors/client-error.ts'
import { answerError, answerErrors } from '../http/errors/envelope.ts'
import { shedLoad } from '../http/limits/overload.ts'
import { createPageLimiter } from '../http/limits/page-limiter.ts'
import { limitPipelining } from '../http/limits/pipelining.ts'
import { createRateLimiter } from '../http/limits/rate-limit.ts'
import { drainBeforeClose } from '../http/operations/graceful-shutdown.ts'
import { addHealthRoutes } from '../http/operations/health.ts'
import { requestId } from '../http/operations/request-id.ts'
import { logRequests, logUnrouted } from '../http/operations/request-log.ts'
import { addRootRoute } from '../http/operations/root-route.ts'
import { recordTraffic } from '../http/operations/traffic.ts'
import { sendSecurityHeaders } from '../http/pages/security-headers.ts'
import { compileOnce } from '../http/schema/compile-once.ts'
import { compressResponses } from '../http/sending/compression.ts'
import { alternateInterface } from '../interfaces/alternate/index.ts'
import { atsInterfaces } from '../interfaces/ats/index.ts'
import { candidatePages } from '../interfaces/candidate/index.ts'
import { openPages } from '../interfaces/candidate/open/open.routes.ts'
import { playerSessions } from '../interfaces/candidate/session/player-sessions.ts'
import { unsubscribePages } from '../interfaces/candidate/unsubscribe/unsubscribe.routes.ts'
import { mailEvents } from '../interfaces/mail-events/index.ts'
import { mailboxPages } from '../interfaces/mailbox/index.ts'
import { mcpInterface } from '../interfaces/mcp/index.ts'
import { linkedMedia } from '../interfaces/media/index.ts'
import { portalPages } from '../interfaces/portal/index.ts'
import type { MailTextSource } from '../interfaces/portal/organization/email-templates.routes.ts'
import { sharedPages } from '../interfaces/shared/index.ts'
import { v1Envelope } from '../interfaces/v1/errors.ts'
import { v1Interface } from '../interfaces/v1/index.ts'
import { defaultTemplate } from '../mail/default-template.ts'
import { renderInviteEmail } from '../mail/invite-email.ts'
import { renderMemberEmail } from '../mail/member-email.ts'
import { previewText } from '../mail/preview-text.ts'
import { renderRegistrationEmail } from '../mail/registration-email.ts'
import type { Config } from './config.ts'
import type { Dependencies } from './dependencies.ts'
import { createEnvelopeSelector, createSourceReader, PATHS } from './paths.ts'
import { traceRequests } from './trace.ts'

export type AppDependencies = Pick<
  Dependencies,
  'system' | 'log' | 'site' | 'languages' | 'mailSettings' | 'metrics' | 'redis' | 'mailEventReaders' | 'findProblems'
>

/** Most bytes of a request body. Both contracts leave the number to the service. */
const MAX_BODY_BYTES = 64 * 1024
/** Milliseconds for a request to arrive, and for its headers, and the interval at which connections are checked. */
const REQUEST_TIMEOUT_MS = 15_000
const HEADERS_TIMEOUT_MS = 10_000
const TIMEOUT_CHECKED_EVERY_MS = 1_000
/** Milliseconds without any traffic on a connection that waits for a response. Only clients that don't read take that long. */
const STALLED_AFTER_MS = 30_000

/** Compiles a serializer as Fastify does, but on first use. */
const serializerOf = compileOnce((schema: object) => SerializerSelector()()({ method: '', url: '', httpStatus: '', schema }))

/** Builds the service as a Fastify app, not listening yet: health checks, documentation, all interfaces and pages. */
export async function buildApp(config: Config, dependencies: AppDependencies): Promise<FastifyInstance> {
  const { system, log, metrics, languages, findProblems } = dependencies
  const envelopeOf = createEnvelopeSelector(config.alternate.prefix, config.ats, languages)
  const clientErrors = answerClientErrors(
    (path, kind) => envelopeOf(path).rawFailure(kind),
    (status, code) => {
      log.info({ status, code }, 'unreadable request')
      metrics.unreadableRequest(status)
    },
  )
  const isTrustedProxy = createIsTrustedProxy(config.trustProxy)
  const app = fastify({
    loggerInstance: log,
    rewriteUrl: ({ url = '/' }) => withoutTrailingSlash(toRoutePath(url), [PATHS.v1, config.alternate.prefix, PATHS.ats]),
    logController: new LogController({ disableRequestLogging: true }), // logRequests writes a line of our own
    trustProxy: config.trustProxy !== false && isTrustedProxy,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: STALLED_AFTER_MS,
    routerOptions: { maxParamLength: 200 },
    // A path that is too long or can't be decoded has no route. Its prefix tells which error envelope the client expects.
    frameworkErrors: (error, request, reply) => {
      logUnrouted(request, reply)
      metrics.observeUnrouted(request, reply)
      answerError(envelopeOf(request.url), error, request, reply)
    },
    clientErrorHandler: clientErrors.answer,
    http: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECKED_EVERY_MS,
      requireHostHeader: false, // Node would answer without a body
    },
    genReqId: requestId(system.deps.newId),
    return503OnClosing: false, // requests are still answered until the server closes
  })
  app.setSerializerCompiler(({ schema }) => serializerOf(schema as object))
  clientErrors.watch(app.server)
  app.decorateRequest<Context | null>('ctx', null)
  app.decorateRequest('bodySource', null)
  app.decorate('addressing', { site: dependencies.site, knownHosts: config.publicHosts, isTrustedProxy })
  limitPipelining(app)
  if (config.traces) traceRequests(app)
  logRequests(app)
  metrics.observeRequests(app)
  recordTraffic(app, system.deps.traffic)
  reportUntrustedProxies(app, log)
  sendSecurityHeaders(app, config.publicUrl.startsWith('https:'))
  compressResponses(app)
  answerErrors(app, envelopeOf)
  // The order matters: at a stop, /readyz fails first. Then requests are answered for as long as STOP_NOTICE says.
  await addHealthRoutes(app, findProblems)
  drainBeforeClose(app, { notice: config.stopNotice })
  shedLoad(app, config, createSourceReader(config.alternate.prefix))
  trimLinks(app)
  if (config.role !== 'worker') await mountInterfaces(app, config, dependencies)
  return app
}

async function mountInterfaces(app: FastifyInstance, config: Config, dependencies: AppDependencies): Promise<void> {
  const { rateLimits, playerUrl, mediaKeptDays, webcam, mailbox, alternate: settings } = config
  const { system, redis, site, languages, mailSettings, mailEventReaders } = dependencies
  const render = {
    invitation: (email: InviteEmail) => renderInviteEmail(mailSettings, email),
    toMember: (email: MemberEmail) => renderMemberEmail(mailSettings, email),
    toVisitor: (email: RegistrationEmail) => renderRegistrationEmail(mailSettings, email),
  }
  const limiter = createRateLimiter(rateLimits, redis)
  const documents: ApiDocument[] = []
  const v1 = async (scope: FastifyInstance) => {
    documents.push({ name: 'v1', title: 'API v1', read: await v1Interface(scope, { system, limiter }) })
  }
  const alternate = async (scope: FastifyInstance) => {
    const read = await alternateInterface(scope, { system, limiter, settings })
    documents.push({ name: 'alternate', title: 'Alternate interface', read })
  }
  const { secretKeys } = site
  const pages = { languages, secretKeys, playerUrl, webcam, keptDays: mediaKeptDays }
  const countPage = createPageLimiter(config.candidatePageLimits)
  const candidates = (scope: FastifyInstance) => candidatePages(scope, { system, settings: pages, countPage })
  await app.register(v1, { prefix: PATHS.v1 })
  await app.register(alternate, { prefix: settings.prefix })
  if (config.hasMcp) {
    const options = { system, limiter: createRateLimiter(rateLimits, redis, 'mcp'), envelope: v1Envelope, v1: PATHS.v1 }
    await app.register((scope) => mcpInterface(scope, options), { prefix: PATHS.mcp })
  }
  await app.register(candidates, { prefix: PATHS.candidate })
  await app.register((scope) => unsubscribePages(scope, { system, settings: pages, countPage }), { prefix: PATHS.unsubscribe })
  await app.register((scope) => openPages(scope, { system, settings: pages, countPage }), { prefix: PATHS.open })
  // An ATS sends many candidates at once and doesn't report a 429, so it has a separate limit of the largest size.
  const atsLimits = { ...rateLimits, standard: rateLimits.enterprise }
  await atsInterfaces(app, { system, limiter: createRateLimiter(atsLimits, redis, 'ats') })
  const mailTexts: MailTextSource = {
    previewText: (request) => previewText(mailSettings, request, { url: site.publicUrl, now: system.deps.clock() }),
    defaultText: (kind, language) => defaultTemplate(mailSettings.languages.mail(language, 'UTC'), kind),
  }
  await app.register((scope) => portalPages(scope, { system, settings: site, mailTexts }), {
    prefix: PATHS.portal,
  })
  await app.register((scope) => playerSessions(scope, { system, secretKeys }), { prefix: PATHS.playerSessions })
  await app.register((scope) => linkedMedia(scope, { system, secretKeys }), { prefix: PATHS.media })
  await app.register((scope) => sharedPages(scope, { system, settings: site, countPage }), { prefix: PATHS.shared })
  await app.register((scope) => mailEvents(scope, { system, readers: mailEventReaders }), { prefix: PATHS.mailEvents })
  await docs(app, documents)
  const openapi = documents.map(({ name, title }) => ({ title, openapi: `${PATHS.docs}/${name}/openapi.json` }))
  addRootRoute(app, { portal: PATHS.portal, documents: openapi })
  if (mailbox)
    await app.register((scope) => mailboxPages(scope, { system, render, settings: mailbox }), { prefix: PATHS.mailbox })
}

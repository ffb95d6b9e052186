import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import fastify, { type FastifyInstance, LogController } from 'fastify'
import type { Context } from '../domain/context.ts'
import type { InviteEmail } from '../domain/invites/emails.ts'
import type { MemberEmail } from '../domain/mails/member-emails.ts'
import { routedAs, withoutTrailingSlash } from '../http/addresses/links.ts'
import { trimLinks } from '../http/addresses/trim-links.ts'
import { createIsTrustedProxy } from '../http/addresses/trusted-proxies.ts'
import { reportUntrustedProxies } from '../http/addresses/untrusted-proxies.ts'
import { type ApiDocument, docs } from '../http/docs/docs.ts'
import { answerClientErrors } from '../http/errors/client-error.ts'
import { answerError, answerFailures } from '../http/errors/envelope.ts'
import { shedLoad } from '../http/limits/overload.ts'
import { createPageLimiter } from '../http/limits/page-limiter.ts'
import { limitPipelining } from '../http/limits/pipelining.ts'
import { createRateLimiter } from '../http/limits/rate-limit.ts'
import { answerEntrance } from '../http/operations/entrance.ts'
import { keepAnsweringBeforeClose } from '../http/operations/graceful-shutdown.ts'
import { answerHealth } from '../http/operations/health.ts'
import { requestId } from '../http/operations/request-id.ts'
import { logRequests, logUnrouted } from '../http/operations/request-log.ts'
import { noteTraffic } from '../http/operations/traffic.ts'
import { sendSecurityHeaders } from '../http/pages/security-headers.ts'
import { compileOnce } from '../http/schema/compile-once.ts'
import { compressAnswers } from '../http/sending/compression.ts'
import { alternateInterface } from '../interfaces/alternate/index.ts'
import { atsInterfaces } from '../interfaces/ats/index.ts'
import { candidatePages } from '../interfaces/candidate/index.ts'
import { playerSessions } from '../interfaces/candidate/session/player-sessions.ts'
import { unsubscribePages } from '../interfaces/candidate/unsubscribe/unsubscribe.routes.ts'
import { mailEvents } from '../interfaces/mail-events/index.ts'
import { mailboxPages } from '../interfaces/mailbox/index.ts'
import { linkedMedia } from '../interfaces/media/index.ts'
import { portalPages } from '../interfaces/portal/index.ts'
import type { MailTextSource } from '../interfaces/portal/organization/words.routes.ts'
import { v1Interface } from '../interfaces/v1/index.ts'
import { defaultTemplate } from '../mail/default-template.ts'
import { renderInviteEmail } from '../mail/invite-email.ts'
import { renderMemberEmail } from '../mail/member-email.ts'
import { previewText } from '../mail/preview-text.ts'
import type { Config } from './config.ts'
import type { Dependencies } from './dependencies.ts'
import { createEnvelopeChoice, createSourceOf, PATHS } from './paths.ts'
import { traceRequests } from './trace.ts'

/** What of its dependencies the app itself uses. */
export type AppDependencies = Pick<
  Dependencies,
  'system' | 'log' | 'site' | 'languages' | 'mailSettings' | 'metrics' | 'redis' | 'mailEventReaders' | 'findProblems'
>

/** Both documents leave the maximum to us. */
const MAX_BODY_BYTES = 64 * 1024
/** How long a request may take to arrive, and its headers alone; how often connections are held to it. */
const REQUEST_TIMEOUT_MS = 15_000
const HEADERS_TIMEOUT_MS = 10_000
const TIMEOUT_CHECKED_EVERY_MS = 1_000
/** How long nothing may move on a connection that is owed an answer: longer than any answer takes, but for clients that don't read. */
const STALLED_AFTER_MS = 30_000

/** As Fastify makes them by itself, but when they are first needed. */
const serializerOf = compileOnce((schema: object) => SerializerSelector()()({ method: '', url: '', httpStatus: '', schema }))

/** The service as a Fastify app: health, documents, both interfaces, the portal and the candidates' pages. It does not listen yet. */
export async function buildApp(config: Config, dependencies: AppDependencies): Promise<FastifyInstance> {
  const { system, log, metrics, languages, findProblems } = dependencies
  const envelopeOf = createEnvelopeChoice(config.alternate.prefix, config.ats, languages)
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
    rewriteUrl: ({ url = '/' }) => withoutTrailingSlash(routedAs(url), [PATHS.v1, config.alternate.prefix, PATHS.ats]),
    logController: new LogController({ disableRequestLogging: true }), // logRequests writes a line of our own
    trustProxy: config.trustProxy !== false && isTrustedProxy,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: STALLED_AFTER_MS,
    routerOptions: { maxParamLength: 200 },
    // A path that can't be decoded, or is too long, belongs to no scope: how it begins tells whose envelope its client expects.
    frameworkErrors: (error, request, reply) => {
      logUnrouted(request, reply)
      metrics.observeUnrouted(request, reply)
      answerError(envelopeOf(request.url), error, request, reply)
    },
    clientErrorHandler: clientErrors.answer,
    http: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECKED_EVERY_MS,
      requireHostHeader: false, // it would be answered without a word
    },
    genReqId: requestId(system.deps.newId),
    return503OnClosing: false, // what still comes in is answered like any other
  })
  app.setSerializerCompiler(({ schema }) => serializerOf(schema as object))
  clientErrors.watch(app.server)
  app.decorateRequest<Context | null>('ctx', null)
  app.decorate('addressing', { site: dependencies.site, knownHosts: config.publicHosts, isTrustedProxy })
  limitPipelining(app)
  if (config.traces) traceRequests(app)
  logRequests(app)
  metrics.observeRequests(app)
  noteTraffic(app, system.deps.traffic)
  reportUntrustedProxies(app, log)
  sendSecurityHeaders(app, config.publicUrl.startsWith('https:'))
  compressAnswers(app)
  answerFailures(app, envelopeOf)
  // In this order: at a stop /readyz says no first, then requests are answered for as long as STOP_NOTICE says.
  await answerHealth(app, findProblems)
  keepAnsweringBeforeClose(app, { notice: config.stopNotice })
  shedLoad(app, config, createSourceOf(config.alternate.prefix))
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
  await app.register(candidates, { prefix: PATHS.candidate })
  await app.register((scope) => unsubscribePages(scope, { system, settings: pages, countPage }), { prefix: PATHS.unsubscribe })
  // An ATS sends many candidates at once, and tells nobody of a 429: counted apart, and for each organization as for the greatest.
  const atsLimits = { ...rateLimits, standard: rateLimits.enterprise }
  await atsInterfaces(app, { system, limiter: createRateLimiter(atsLimits, redis, 'ats') })
  const mailTexts: MailTextSource = {
    previewText: (asked) => previewText(mailSettings, asked, { url: site.publicUrl, now: system.deps.clock() }),
    defaultText: (kind, language) => defaultTemplate(mailSettings.languages.mail(language, 'UTC'), kind),
  }
  await app.register((scope) => portalPages(scope, { system, settings: site, mailTexts }), {
    prefix: PATHS.portal,
  })
  await app.register((scope) => playerSessions(scope, { system, secretKeys }), { prefix: PATHS.playerSessions })
  await app.register((scope) => linkedMedia(scope, { system, secretKeys }), { prefix: PATHS.media })
  await app.register((scope) => mailEvents(scope, { system, readers: mailEventReaders }), { prefix: PATHS.mailEvents })
  await docs(app, documents)
  const openapi = documents.map(({ name, title }) => ({ title, openapi: `${PATHS.docs}/${name}/openapi.json` }))
  answerEntrance(app, { portal: PATHS.portal, documents: openapi })
  if (mailbox)
    await app.register((scope) => mailboxPages(scope, { system, render, settings: mailbox }), { prefix: PATHS.mailbox })
}

import cookie from '@fastify/cookie'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ServiceContext } from '../../domain/context.ts'
import { DomainError } from '../../domain/errors.ts'
import { MAX_COMMENT_LENGTH } from '../../domain/limits.ts'
import { hasShareAccess, isShareCode, signShareAccess } from '../../domain/secrets/share-tokens.ts'
import {
  findSharedMedia,
  type OpenShareLink,
  openShareLink,
  readSharedResults,
  recordOpening,
  saveFeedback,
} from '../../domain/sharing/open-share-link.ts'
import { countShareCode } from '../../domain/sign-in/sign-in-attempts.ts'
import { type Html, toText } from '../../html/html.ts'
import { clientOf } from '../../http/addresses/client.ts'
import { SHARE_PATH, type SiteConfig } from '../../http/addresses/links.ts'
import { answerErrors } from '../../http/errors/envelope.ts'
import { readText } from '../../http/forms/read-form.ts'
import type { PageLimiter } from '../../http/limits/page-limiter.ts'
import { serveAssets } from '../../http/pages/assets.ts'
import { auditOriginOf } from '../../http/requests/audit-origin.ts'
import { parseFields } from '../../http/requests/form-fields.ts'
import { sendMediaWhile } from '../../http/sending/send-media.ts'
import { sharedEnvelope } from './errors.ts'
import { sharedHeaders } from './headers.ts'
import { look } from './layout.ts'
import { codePage, sharedPage } from './shared.page.ts'

type Options = { system: ServiceContext; settings: SiteConfig; countPage: PageLimiter }
type Route = { Params: { token: string } }
type MediaRoute = { Params: { token: string; mediaId: string } }
type ResultRoute = { Params: { token: string; position: string } }

/** Characters of a comment take up to twelve bytes in a form. */
const BODY_LIMIT = 12 * MAX_COMMENT_LENGTH + 1_024
/** Seconds until the access code is asked for again. */
const ACCESS_SECONDS = 86_400

/** Shows results by link to people without an account. The link is the credential, and gives access to nothing else. */
export async function sharedPages(app: FastifyInstance, { system, settings, countPage }: Options): Promise<void> {
  const { secretKeys } = settings
  await app.register(cookie)
  answerErrors(app, () => sharedEnvelope)
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(sharedHeaders)
  })
  serveAssets(app, SHARE_PATH, look)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: BODY_LIMIT },
    async (_request: unknown, body: string) => parseFields(body),
  )

  const open = (request: FastifyRequest<Route>): Promise<OpenShareLink> =>
    openShareLink({ ...system, origin: auditOriginOf(request) }, request.params.token)
  /** Refuses a closed link before the body is read. */
  const onRequest = async (request: FastifyRequest<Route>): Promise<void> => {
    const { link } = await open(request)
    countPage(request, link.id)
  }
  const cookieOf = ({ id }: { id: string }) => `share-${id}`
  const isLocked = (request: FastifyRequest, { link }: OpenShareLink): boolean =>
    link.hasCode && !hasShareAccess(secretKeys, link.id, request.cookies[cookieOf(link)] ?? '')
  const send = (reply: FastifyReply, page: Html, status = 200): FastifyReply =>
    reply.code(status).type('text/html; charset=utf-8').send(toText(page))

  app.get<Route>('/:token', async (request, reply) => {
    const opened = await open(request)
    const { token } = request.params
    countPage(request, opened.link.id)
    if (isLocked(request, opened)) return send(reply, codePage(opened.link, token))
    const results = await readSharedResults(opened)
    if (request.method === 'GET') await recordOpening(opened)
    return send(reply, sharedPage({ link: opened.link, token, results, now: system.deps.clock() }))
  })

  app.post<Route>('/:token/code', { onRequest, bodyLimit: BODY_LIMIT }, async (request, reply) => {
    const opened = await open(request)
    const { link } = opened
    const { token } = request.params
    const waitSeconds = await countShareCode(system, link.id, clientOf(request)).catch(secondsToWait)
    if (waitSeconds) {
      const minutes = Math.ceil(waitSeconds / 60)
      reply.header('retry-after', waitSeconds)
      return send(reply, codePage(link, token, `Too many codes were wrong. Try again in ${minutes} minutes.`), 429)
    }
    if (!isShareCode(secretKeys, link.id, readText(valuesOf(request), 'code')))
      return send(reply, codePage(link, token, 'This code is not right.'), 422)
    const secure = settings.publicUrl.startsWith('https:')
    const options = { path: SHARE_PATH, httpOnly: true, sameSite: 'lax', secure, maxAge: ACCESS_SECONDS } as const
    return reply.setCookie(cookieOf(link), signShareAccess(secretKeys, link.id), options).redirect(`${SHARE_PATH}/${token}`, 303)
  })

  app.post<ResultRoute>('/:token/results/:position', { onRequest, bodyLimit: BODY_LIMIT }, async (request, reply) => {
    const opened = await open(request)
    const { token, position: typed } = request.params
    if (isLocked(request, opened)) throw new DomainError('share_link_not_found')
    const position = /^[1-9]\d{0,3}$/.test(typed) ? Number(typed) : 0
    const values = valuesOf(request)
    const comment = readText(values, 'comment')
    const isSaved = await saveFeedback(opened, { position, vote: values.get('vote') ?? '', comment }).then(() => true, refuseText)
    const facts = { link: opened.link, token, now: system.deps.clock() }
    const reopened = await open(request)
    const results = await readSharedResults(reopened)
    if (isSaved) return send(reply, sharedPage({ ...facts, results, saved: position }))
    const problem = { position, text: `At most ${MAX_COMMENT_LENGTH.toLocaleString('en')} characters of text.`, comment }
    return send(reply, sharedPage({ ...facts, results, problem }), 422)
  })

  app.route<MediaRoute>({
    method: ['GET', 'HEAD'],
    url: '/:token/media/:mediaId',
    async handler(request, reply) {
      const opened = await open(request)
      if (isLocked(request, opened)) throw new DomainError('share_link_not_found')
      const media = await findSharedMedia(opened, request.params.mediaId)
      const isOpen = () =>
        open(request).then(
          () => true,
          () => false,
        )
      return sendMediaWhile(opened.ctx, request, reply, media, isOpen)
    },
  })
}

const valuesOf = ({ body }: FastifyRequest): URLSearchParams => (body instanceof URLSearchParams ? body : new URLSearchParams())

/** @returns false for a comment that is refused. @throws other errors. */
function refuseText(error: unknown): false {
  if (error instanceof DomainError && error.kind === 'invalid') return false
  throw error
}

/** @returns the seconds to wait. @throws other errors. */
function secondsToWait(error: unknown): number {
  const issue = error instanceof DomainError ? error.issues[0] : undefined
  if (issue?.rule === 'account' && issue.problem === 'tooMany') return issue.limit ?? 60
  throw error
}

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { createFairQueue } from '../../../domain/concurrency/work-queues.ts'
import { DomainError } from '../../../domain/errors.ts'
import { listCandidateQuestions } from '../../../domain/invites/candidate-moves.ts'
import { asVisitor, findOpenLink, type ShownLink } from '../../../domain/open-links/find-open-link.ts'
import { BUSY_SECONDS } from '../../../domain/open-links/limits.ts'
import type { Closure } from '../../../domain/open-links/link-state.ts'
import {
  findRegistrationIssues,
  mustWait,
  type RegistrationInput,
  readInput,
  register,
} from '../../../domain/open-links/register.ts'
import { isTranscribing } from '../../../domain/organization/transcription.ts'
import { countRegistration } from '../../../domain/sign-in/sign-in-attempts.ts'
import { findAssessmentFacts } from '../../../domain/submissions/assessment-facts.ts'
import { toNeeds } from '../../../domain/submissions/needs.ts'
import { clientOf } from '../../../http/addresses/client.ts'
import { OPEN_PATH } from '../../../http/addresses/links.ts'
import { answerErrors } from '../../../http/errors/envelope.ts'
import { HttpError } from '../../../http/errors/failure.ts'
import { createBodyReader } from '../../../http/requests/body-reader.ts'
import { candidateEnvelope } from '../kit/errors.ts'
import { readForms } from '../kit/forms.ts'
import { candidateHeaders } from '../kit/headers.ts'
import { type Page, sendPage, type View } from '../kit/layout.ts'
import type { OpenOptions } from '../kit/settings.ts'
import { termsInWords } from '../pages/consent.page.ts'
import { mailedRoutes } from './mailed.routes.ts'
import { closedPage, openPage, openView, type Refusal, sentPage } from './open.page.ts'
import { createProofChallenge, readProof } from './proof-of-work.ts'

type OpenRoute = { Params: { token: string }; Querystring: { language?: string } }

/** Largest form in bytes. Far more than its fields need, so that a too long name gets an error at its field. */
const FORM_BODY_LIMIT = 64 * 1024
/** Most bytes of all forms in memory. */
const BODY_BUDGET = 8 * 1024 * 1024
/**
 * Forms being processed and waiting, per process. The queue is fair between networks, so that a flood of forms delays no other visitors or
 * requests.
 */
const [FORMS_AT_ONCE, FORMS_WAITING] = [2, 100]
const FORM_WAIT_MS = 10_000
const RETRY_AFTER_SECONDS = 10

/** @property until time of the next possible try. */
type Answer = { status: number; page: Page; until?: Date | null }
type OpenLinkState = { link: ShownLink; closure: Closure | null }

declare module 'fastify' {
  interface FastifyRequest {
    /** Link of a form. It is read before the body. */
    openLink: OpenLinkState | null
  }
}

/** Pages of open links: a public form, and the pages behind the links in its mails. */
export async function openPages(app: FastifyInstance, options: OpenOptions): Promise<void> {
  const envelope = { ...candidateEnvelope(options.settings.languages), prefix: OPEN_PATH }
  answerErrors(app, () => envelope)
  const headers = candidateHeaders()
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(headers)
  })
  app.decorateRequest('openLink', null)
  readForms(app, createBodyReader(BODY_BUDGET))
  const pages = createFormPages(options)
  formRoutes(app, options, pages)
  registerRoute(app, options, pages)
  mailedRoutes(app, options)
}

/** Reads a link, and renders its pages. */
function createFormPages({ system, settings }: OpenOptions) {
  const { deps } = system
  const find = async (token: string): Promise<OpenLinkState> => {
    const openLink = await findOpenLink(system, token)
    if (!openLink) throw new DomainError('invite_not_found')
    return openLink
  }
  const viewOf = (request: FastifyRequest<OpenRoute>, link: ShownLink, wantedLanguage: string | undefined): View => {
    const path = `${OPEN_PATH}/${request.params.token}`
    const view = openView(link, request, settings, { path, chosenLanguage: null })
    const isOffered = wantedLanguage !== undefined && view.languages.includes(wantedLanguage)
    return isOffered ? openView(link, request, settings, { path, chosenLanguage: wantedLanguage }) : view
  }
  const readFormFacts = async (view: View, link: ShownLink) => {
    const ctx = asVisitor(system, link)
    const { closesAt, emailDomains } = link
    const questions = await listCandidateQuestions(ctx, link)
    const terms = {
      needs: toNeeds(deps.kinds, view.invite, questions, await isTranscribing(ctx)),
      keptDays: settings.keptDays,
      webcam: settings.webcam,
      addition: null,
    }
    return {
      facts: await findAssessmentFacts(ctx, link),
      terms: settings.playerUrl ? null : termsInWords(view, terms),
      ...{ closesAt, emailDomains },
    }
  }
  const refuse = (view: View, link: ShownLink, refusal: Refusal): Answer => ({
    status: isLimit(refusal) ? 429 : 200,
    page: closedPage(view, refusal, link.closesAt),
    until: refusal.until,
  })
  const send = (reply: FastifyReply, { status, page, until }: Answer) => {
    if (until) reply.header('retry-after', Math.max(1, Math.ceil((until.getTime() - deps.clock().getTime()) / 1_000)))
    return sendPage(reply, status, page)
  }
  return { find, viewOf, readFormFacts, refuse, send }
}
type FormPages = ReturnType<typeof createFormPages>

function formRoutes(app: FastifyInstance, { system, settings, countPage }: OpenOptions, pages: FormPages): void {
  const { find, viewOf, readFormFacts, refuse, send } = pages
  /** Counts by network, because everybody has the same link. */
  const count = (request: FastifyRequest<OpenRoute>) =>
    countPage(request, `open ${request.params.token} ${clientOf(request).network}`)

  app.get<OpenRoute>('/:token', async (request, reply) => {
    count(request)
    const { link, closure } = await find(request.params.token)
    const view = viewOf(request, link, request.query.language)
    if (closure) return send(reply, refuse(view, link, closure))
    return sendPage(reply, 200, openPage(view, await readFormFacts(view, link)))
  })

  app.get<OpenRoute>('/:token/challenge', async (request, reply) => {
    count(request)
    const { link } = await find(request.params.token)
    reply.header('cache-control', 'no-store')
    return createProofChallenge(settings.secretKeys, { linkId: link.id, now: system.deps.clock() })
  })

  // A GET of the address that a form was sent to, for example by reloading its response.
  app.get<OpenRoute>('/:token/register', async ({ params }, reply) => reply.redirect(`${OPEN_PATH}/${params.token}`, 303))
}

/** Receives the form. */
function registerRoute(app: FastifyInstance, { system, settings }: OpenOptions, pages: FormPages): void {
  const { deps } = system
  const { find, viewOf, readFormFacts, refuse, send } = pages
  const inTurn = createFairQueue(FORMS_AT_ONCE, {
    waiting: FORMS_WAITING,
    longest: FORM_WAIT_MS,
    refusal: () => new HttpError('rate_limited', { retryAfter: RETRY_AFTER_SECONDS }),
  })

  async function onRequest(request: FastifyRequest<OpenRoute>, reply: FastifyReply) {
    // Other sites must not send forms from their visitors' networks.
    if (request.headers['sec-fetch-site'] === 'cross-site') throw new HttpError('malformed_request')
    const { network } = clientOf(request)
    request.openLink = await inTurn(network, () => find(request.params.token))
    const { organizationId: organization } = request.openLink.link
    request.bodySource = { organization, sender: network, answer: reply.raw }
  }
  const answerForm = async (request: FastifyRequest<OpenRoute>): Promise<Answer> => {
    const { link, closure } = request.openLink!
    const fields = request.body instanceof URLSearchParams ? request.body : new URLSearchParams()
    const input = readInput(readTyped(fields))
    const view = viewOf(request, link, input.language)
    const turnAway = (refusal: Refusal) => {
      deps.metrics.registered(isLimit(refusal) ? 'limited' : 'closed')
      return refuse(view, link, refusal)
    }
    if (closure) return turnAway(closure)
    const { network, isShared } = clientOf(request)
    const now = deps.clock()
    const seconds = await countRegistration(system, { network, isShared })
    if (seconds !== null) return turnAway({ why: 'network', until: new Date(now.getTime() + seconds * 1_000) })
    const offeredLanguages = view.languages.length > 0 ? view.languages : [view.t.language]
    const issues = findRegistrationIssues(input, link, offeredLanguages)
    if (issues.length > 0) {
      deps.metrics.registered('invalid')
      return { status: 422, page: openPage(view, { ...(await readFormFacts(view, link)), input, issues }) }
    }
    const ctx = asVisitor(system, link)
    const proof = await readProof(settings.secretKeys, fields.get('solution') ?? '', { linkId: link.id, now })
    if (await mustWait(ctx, { network, proof }))
      return turnAway({ why: 'busy', until: new Date(now.getTime() + BUSY_SECONDS * 1_000) })
    await register(ctx, link, input, { network, proof })
    return { status: 200, page: sentPage(view, input) }
  }
  // Sent outside of the queue, so that a client that reads slowly takes no place in it.
  app.post<OpenRoute>('/:token/register', { bodyLimit: FORM_BODY_LIMIT, onRequest }, async (request, reply) =>
    send(reply, await inTurn(clientOf(request).network, () => answerForm(request))),
  )
}

const isLimit = ({ why }: Refusal): boolean => why === 'network' || why === 'busy'

const readTyped = (fields: URLSearchParams): RegistrationInput => ({
  name: fields.get('name') ?? '',
  email: fields.get('email') ?? '',
  language: fields.get('language') ?? '',
})

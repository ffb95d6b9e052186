import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../../domain/errors.ts'
import { listCandidateQuestions } from '../../../domain/invites/candidate-moves.ts'
import { saveTimeZone } from '../../../domain/invites/candidate-preferences.ts'
import { begin, type OpenedRegistration, openRegistration, refuseRegistration } from '../../../domain/open-links/begin.ts'
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
import { isFormSignatureValid, signForm, signInvitation } from '../../../domain/secrets/invitation-tokens.ts'
import { readRegistration } from '../../../domain/secrets/registration-tokens.ts'
import { countRegistration } from '../../../domain/sign-in/sign-in-attempts.ts'
import { findAssessmentFacts } from '../../../domain/submissions/assessment-facts.ts'
import { toNeeds } from '../../../domain/submissions/needs.ts'
import { clientOf } from '../../../http/addresses/client.ts'
import { BEGIN_SEGMENT, INVITATION_PATH, OPEN_PATH } from '../../../http/addresses/links.ts'
import { answerErrors } from '../../../http/errors/envelope.ts'
import { HttpError } from '../../../http/errors/failure.ts'
import { createBodyReader } from '../../../http/requests/body-reader.ts'
import { candidateEnvelope } from '../kit/errors.ts'
import { readForms } from '../kit/forms.ts'
import { candidateHeaders } from '../kit/headers.ts'
import { sendPage, type View } from '../kit/layout.ts'
import type { Options } from '../kit/settings.ts'
import { termsInWords } from '../pages/consent.page.ts'
import { beginPage, closedPage, openPage, openView, type Refusal, refusedPage, sentPage } from './open.page.ts'
import { createProofChallenge, readProof } from './proof-of-work.ts'

type OpenRoute = { Params: { token: string }; Querystring: { language?: string } }
type MailedRoute = { Params: { registration: string } }
type Given = Pick<Options, 'system' | 'settings' | 'countPage'>

/** Bytes of the form: far more than its fields need, so that a name that is too long is answered beside its field. */
const FORM_BODY_LIMIT = 64 * 1024
/** Bytes of all forms in memory. */
const BODY_BUDGET = 8 * 1024 * 1024

type Found = { link: ShownLink; closure: Closure | null }

declare module 'fastify' {
  interface FastifyRequest {
    /** The link of a form, found before its body is read. */
    openLink: Found | null
  }
}

/** Pages of open links: a form for everybody, and the pages behind the links in the mails that it sends. */
export async function openPages(app: FastifyInstance, given: Given): Promise<void> {
  const envelope = { ...candidateEnvelope(given.settings.languages), prefix: OPEN_PATH }
  answerErrors(app, () => envelope)
  const headers = candidateHeaders()
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(headers)
  })
  app.decorateRequest('bodySource', null)
  app.decorateRequest('openLink', null)
  readForms(app, createBodyReader(BODY_BUDGET))
  formRoutes(app, given)
  mailedRoutes(app, given)
}

function formRoutes(app: FastifyInstance, { system, settings, countPage }: Given): void {
  const { deps } = system

  const find = async (token: string): Promise<Found> => {
    const found = await findOpenLink(system, token)
    if (!found) throw new DomainError('invite_not_found')
    return found
  }
  /** By network, because everybody has the same link. */
  const count = (request: FastifyRequest<OpenRoute>) =>
    countPage(request, `open ${request.params.token} ${clientOf(request).network}`)
  const viewOf = (request: FastifyRequest<OpenRoute>, link: ShownLink, wanted: string | undefined): View => {
    const path = `${OPEN_PATH}/${request.params.token}`
    const view = openView(link, request, settings, { path, chosenLanguage: null })
    const isOffered = wanted !== undefined && view.languages.includes(wanted)
    return isOffered ? openView(link, request, settings, { path, chosenLanguage: wanted }) : view
  }
  const readFormFacts = async (view: View, link: ShownLink) => {
    const ctx = asVisitor(system, link)
    const { closesAt, emailDomains } = link
    const questions = await listCandidateQuestions(ctx, link)
    const terms = {
      needs: toNeeds(deps.kinds, view.invite, questions),
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
  const refuse = (reply: FastifyReply, view: View, refusal: Refusal) => {
    if (refusal.until)
      reply.header('retry-after', Math.max(1, Math.ceil((refusal.until.getTime() - deps.clock().getTime()) / 1_000)))
    return sendPage(reply, refusal.why === 'network' || refusal.why === 'busy' ? 429 : 200, closedPage(view, refusal))
  }

  app.get<OpenRoute>('/:token', async (request, reply) => {
    count(request)
    const { link, closure } = await find(request.params.token)
    const view = viewOf(request, link, request.query.language)
    return closure ? refuse(reply, view, closure) : sendPage(reply, 200, openPage(view, await readFormFacts(view, link)))
  })

  app.get<OpenRoute>('/:token/challenge', async (request, reply) => {
    count(request)
    const { link } = await find(request.params.token)
    reply.header('cache-control', 'no-store')
    return createProofChallenge(settings.secretKeys, { linkId: link.id, now: deps.clock() })
  })

  // The address of the page that a form was answered with, when it is opened again.
  app.get<OpenRoute>('/:token/register', async ({ params }, reply) => reply.redirect(`${OPEN_PATH}/${params.token}`, 303))

  async function onRequest(request: FastifyRequest<OpenRoute>, reply: FastifyReply) {
    // Other sites must not use their visitors' networks.
    if (request.headers['sec-fetch-site'] === 'cross-site') throw new HttpError('malformed_request')
    request.openLink = await find(request.params.token)
    const { organizationId: organization } = request.openLink.link
    request.bodySource = { organization, link: clientOf(request).network, answer: reply.raw }
  }
  app.post<OpenRoute>('/:token/register', { bodyLimit: FORM_BODY_LIMIT, onRequest }, async (request, reply) => {
    const { link, closure } = request.openLink!
    const fields = request.body instanceof URLSearchParams ? request.body : new URLSearchParams()
    const input = readInput(readTyped(fields))
    const view = viewOf(request, link, input.language)
    if (closure) return refuse(reply, view, closure)
    const { network, isShared } = clientOf(request)
    const now = deps.clock()
    const seconds = await countRegistration(system, { network, isShared })
    if (seconds !== null) return refuse(reply, view, { why: 'network', until: new Date(now.getTime() + seconds * 1_000) })
    const offered = view.languages.length > 0 ? view.languages : [view.t.language]
    const issues = findRegistrationIssues(input, link, offered)
    if (issues.length > 0) return sendPage(reply, 422, openPage(view, { ...(await readFormFacts(view, link)), input, issues }))
    const ctx = asVisitor(system, link)
    const proof = await readProof(settings.secretKeys, fields.get('solution') ?? '', { linkId: link.id, now })
    if (await mustWait(ctx, { network, proof }))
      return refuse(reply, view, { why: 'busy', until: new Date(now.getTime() + BUSY_SECONDS * 1_000) })
    await register(ctx, link, input, { network, proof })
    return sendPage(reply, 200, sentPage(view, input))
  })
}

const readTyped = (fields: URLSearchParams): RegistrationInput => ({
  name: fields.get('name') ?? '',
  email: fields.get('email') ?? '',
  language: fields.get('language') ?? '',
})

function mailedRoutes(app: FastifyInstance, { system, settings, countPage }: Given): void {
  const { languages, secretKeys } = settings
  const idOf = (token: string): string => {
    const id = readRegistration(secretKeys, token)
    if (id === null) throw new DomainError('invite_not_found')
    return id
  }
  const find = async (token: string): Promise<OpenedRegistration> => {
    const opened = await openRegistration(system, idOf(token))
    if (!opened) throw new DomainError('invite_not_found')
    return opened
  }
  const viewOf = (request: FastifyRequest<MailedRoute>, { registration }: OpenedRegistration): View => {
    const token = request.params.registration
    const viewed = { path: `${OPEN_PATH}/${BEGIN_SEGMENT}/${token}`, proof: signForm(secretKeys, token) }
    const view = openView(registration.openLink, request, { languages }, { ...viewed, chosenLanguage: registration.language })
    return { ...view, languages: [] }
  }
  const leadTo = (reply: FastifyReply, invitation: { inviteId: string; linkVersion: number }) =>
    reply.redirect(`${INVITATION_PATH}/${signInvitation(secretKeys, invitation)}`, 303)

  app.get<MailedRoute>(`/${BEGIN_SEGMENT}/:registration`, async (request, reply) => {
    const { registration: token } = request.params
    countPage(request, idOf(token))
    const opened = await find(token)
    if (opened.begun) return leadTo(reply, opened.begun)
    const { name } = opened.registration
    return sendPage(reply, 200, beginPage(viewOf(request, opened), { name, closure: opened.closure }))
  })

  const addForm = (action: string, work: (request: FastifyRequest<MailedRoute>, reply: FastifyReply) => Promise<FastifyReply>) =>
    app.post<MailedRoute>(
      `/${BEGIN_SEGMENT}/:registration/${action}`,
      {
        async onRequest(request, reply) {
          const link = idOf(request.params.registration)
          request.bodySource = { organization: '', link, answer: reply.raw }
        },
      },
      async (request, reply) => {
        const proof = request.body instanceof URLSearchParams ? (request.body.get('proof') ?? '') : ''
        if (!isFormSignatureValid(secretKeys, request.params.registration, proof)) throw new HttpError('malformed_request')
        return work(request, reply)
      },
    )
  addForm('begin', async (request, reply) => {
    const { registration: token } = request.params
    const begun = await begin(system, idOf(token))
    if ('inviteId' in begun) {
      await saveTimeZone(system, begun, (request.body as URLSearchParams).get('zone') ?? '')
      return leadTo(reply, begun)
    }
    const opened = await find(token)
    return sendPage(reply, 200, beginPage(viewOf(request, opened), { name: opened.registration.name, closure: begun }))
  })
  addForm('refuse', async (request, reply) => {
    const opened = await openRegistration(system, idOf(request.params.registration))
    // Pressed twice, or begun meanwhile.
    if (!opened) throw new DomainError('invite_not_found')
    if (opened.begun) return leadTo(reply, opened.begun)
    await refuseRegistration(system, opened.registration.id)
    return sendPage(reply, 200, refusedPage(viewOf(request, opened)))
  })
}

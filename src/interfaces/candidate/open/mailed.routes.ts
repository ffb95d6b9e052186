import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../../domain/errors.ts'
import { saveTimeZone } from '../../../domain/invites/candidate-preferences.ts'
import { begin, type OpenedRegistration, openRegistration, refuseRegistration } from '../../../domain/open-links/begin.ts'
import { isFormSignatureValid, signForm, signInvitation } from '../../../domain/secrets/invitation-tokens.ts'
import { readRegistration } from '../../../domain/secrets/registration-tokens.ts'
import { BEGIN_SEGMENT, INVITATION_PATH, OPEN_PATH } from '../../../http/addresses/links.ts'
import { HttpError } from '../../../http/errors/failure.ts'
import { sendPage, type View } from '../kit/layout.ts'
import type { OpenOptions } from '../kit/settings.ts'
import { beginPage, openView, refusedPage } from './open.page.ts'

type MailedRoute = { Params: { registration: string } }

/** Pages behind the links in the mails of open links: *Begin* and *This wasn't me*. */
export function mailedRoutes(app: FastifyInstance, { system, settings, countPage }: OpenOptions): void {
  const { languages, secretKeys } = settings
  const idOf = (token: string): string => {
    const id = readRegistration(secretKeys, token)
    if (id === null) throw new DomainError('invite_not_found')
    return id
  }
  const find = async (token: string): Promise<OpenedRegistration> => {
    const registration = await openRegistration(system, idOf(token))
    if (!registration) throw new DomainError('invite_not_found')
    return registration
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
    return sendPage(
      reply,
      200,
      beginPage(viewOf(request, opened), { name, closure: opened.closure, closesAt: opened.registration.openLink.closesAt }),
    )
  })

  const addForm = (action: string, work: (request: FastifyRequest<MailedRoute>, reply: FastifyReply) => Promise<FastifyReply>) =>
    app.post<MailedRoute>(
      `/${BEGIN_SEGMENT}/:registration/${action}`,
      {
        async onRequest(request, reply) {
          const link = idOf(request.params.registration)
          request.bodySource = { organization: '', sender: link, answer: reply.raw }
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
    const beginning = await begin(system, idOf(token))
    if ('inviteId' in beginning) {
      await saveTimeZone(system, beginning, (request.body as URLSearchParams).get('zone') ?? '')
      return leadTo(reply, beginning)
    }
    const opened = await find(token)
    return sendPage(
      reply,
      200,
      beginPage(viewOf(request, opened), { name: opened.registration.name, closure: beginning, closesAt: null }),
    )
  })
  addForm('refuse', async (request, reply) => {
    const opened = await openRegistration(system, idOf(request.params.registration))
    // The button was pressed twice, or the assessment was begun in another tab.
    if (!opened) throw new DomainError('invite_not_found')
    if (opened.begun) return leadTo(reply, opened.begun)
    await refuseRegistration(system, opened.registration.id)
    return sendPage(reply, 200, refusedPage(viewOf(request, opened)))
  })
}

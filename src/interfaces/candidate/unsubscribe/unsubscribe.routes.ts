import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../../domain/errors.ts'
import type { StoppedMails } from '../../../domain/events/event.ts'
import { findUnsubscribeOffer, unsubscribe } from '../../../domain/invites/unsubscribe.ts'
import { readUnsubscribeToken } from '../../../domain/secrets/unsubscribe-tokens.ts'
import { UNSUBSCRIBE_PATH } from '../../../http/addresses/links.ts'
import { answerErrors } from '../../../http/errors/envelope.ts'
import { candidateEnvelope } from '../kit/errors.ts'
import { candidateHeaders } from '../kit/headers.ts'
import { textsFor } from '../kit/language.ts'
import { sendPage } from '../kit/layout.ts'
import type { CandidateSettings, Options } from '../kit/settings.ts'
import { unsubscribePage } from './unsubscribe.page.ts'

type Route = { Params: { token: string } }
type UnsubscribeOptions = Pick<Options, 'system' | 'countPage'> & {
  settings: Pick<CandidateSettings, 'languages' | 'secretKeys'>
}

/** Largest body in bytes. The content does not matter, neither of the page's form nor of mail programs (RFC 8058). */
const MAX_BODY_BYTES = 4 * 1024

/**
 * Unsubscribes, by the button of a mail program or of the page. GET changes nothing, because scanners follow links. POST responds
 * directly, because mail programs follow no redirect.
 */
export async function unsubscribePages(app: FastifyInstance, { system, settings, countPage }: UnsubscribeOptions): Promise<void> {
  const { languages, secretKeys } = settings
  const envelope = { ...candidateEnvelope(languages), prefix: UNSUBSCRIBE_PATH }
  answerErrors(app, () => envelope)
  const headers = candidateHeaders()
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(headers)
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: MAX_BODY_BYTES }, (_request, _body, done) => done(null, {}))

  app.get<Route>('/:token', async (request, reply) => {
    countPage(request, inviteOf(request.params.token))
    return show(request, reply)
  })
  const addStop = (path: string, scope: StoppedMails) =>
    app.post<Route>(path, { bodyLimit: MAX_BODY_BYTES }, async (request, reply) => {
      await unsubscribe(system, inviteOf(request.params.token), scope)
      return show(request, reply)
    })
  addStop('/:token', 'reminders')
  addStop('/:token/all', 'all')

  function inviteOf(token: string): string {
    const inviteId = readUnsubscribeToken(secretKeys, token)
    if (inviteId === null) throw new DomainError('invite_not_found')
    return inviteId
  }

  async function show(request: FastifyRequest<Route>, reply: FastifyReply): Promise<FastifyReply> {
    const { token } = request.params
    const offer = await findUnsubscribeOffer(system, inviteOf(token))
    if (!offer) throw new DomainError('invite_not_found')
    const t = textsFor(languages, offer.inviter, request)
    return sendPage(reply, 200, unsubscribePage(t, { token, ...offer }))
  }
}

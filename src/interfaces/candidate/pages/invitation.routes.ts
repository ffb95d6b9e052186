import type { FastifyInstance } from 'fastify'
import { DomainError } from '../../../domain/errors.ts'
import { type CandidateMove, findInvitation, moveAsCandidate, NOT_SUSPENDED } from '../../../domain/invites/candidate-moves.ts'
import { saveLanguage, saveTimeZone } from '../../../domain/invites/candidate-preferences.ts'
import { findInviter } from '../../../domain/invites/find-contact.ts'
import { signReturnUrl } from '../../../domain/invites/return-url.ts'
import { sendLinkAgain } from '../../../domain/invites/send-link-again.ts'
import { readInvitation } from '../../../domain/secrets/invitation-tokens.ts'
import { findOwnReport } from '../../../domain/submissions/grading/result-report.ts'
import { enterSession, findSession } from '../../../domain/submissions/taking/session.ts'
import { zoneOf } from '../../../domain/time/zones.ts'
import { INVITATION_PATH, TEST_PAGE } from '../../../http/addresses/links.ts'
import { sendReportFile } from '../../../http/reports/send-report.ts'
import { disconnectSignal } from '../../../http/requests/disconnect-signal.ts'
import { replacedPage } from '../kit/errors.ts'
import { addForm } from '../kit/forms.ts'
import { textsFor, textsForStranger } from '../kit/language.ts'
import { sendPage } from '../kit/layout.ts'
import type { Options } from '../kit/settings.ts'
import { choosePage, playerAddress } from './choose-page.ts'
import { mailTestPage } from './mail-test.page.ts'

type Route = { Params: { token: string }; Querystring: { late?: string; link?: string } }

/** Page of an invite in any state, and the forms that change it. With an external player these are all pages. */
export function invitationRoutes(app: FastifyInstance, { system, settings, countPage }: Options): void {
  app.get(TEST_PAGE, (request, reply) => sendPage(reply, 200, mailTestPage(textsForStranger(settings.languages, request))))

  app.get<Route>('/:token', async (request, reply) => {
    const { token } = request.params
    const ref = readInvitation(settings.secretKeys, token)
    if (!ref) throw new DomainError('invite_not_found')
    countPage(request, ref.inviteId)
    const session = await findSession(system, ref)
    if (!session) {
      const inviter = await findInviter(system, ref.inviteId, NOT_SUSPENDED)
      if (!inviter) throw new DomainError('invite_not_found')
      return sendPage(reply, 404, replacedPage(textsFor(settings.languages, inviter, request), inviter))
    }
    const { late, link } = request.query
    const linkSent = link === 'sent' || link === 'too_soon' ? link : undefined
    return sendPage(reply, 200, await choosePage(session, request, settings, { isLate: late !== undefined, linkSent }))
  })

  app.get<Route>('/:token/report', async (request, reply) => {
    const ref = readInvitation(settings.secretKeys, request.params.token)
    if (!ref) throw new DomainError('invite_not_found')
    countPage(request, ref.inviteId)
    const { ctx, invite, submission } = await enterSession(system, ref)
    const reader = { language: textsFor(settings.languages, invite, request).language, timeZone: zoneOf(invite) }
    const report = submission && invite.status === 'completed' ? await findOwnReport(ctx, submission.id, reader) : null
    if (!report) throw new DomainError('invite_not_found')
    return sendReportFile({ ...ctx, signal: disconnectSignal(reply) }, reply, report)
  })

  // The return URL is signed when the candidate follows it, because it contains the time.
  app.get<Route>('/:token/return', async (request, reply) => {
    const { token } = request.params
    const ref = readInvitation(settings.secretKeys, token)
    if (!ref) throw new DomainError('invite_not_found')
    countPage(request, ref.inviteId)
    const invite = await findInvitation(system, ref)
    if (!invite) throw new DomainError('invite_not_found')
    return reply.redirect((await signReturnUrl(system, invite)) ?? `${INVITATION_PATH}/${token}`, 303)
  })

  const addMove = (action: string, move: CandidateMove) =>
    addForm(app, settings.secretKeys, action, async ({ ref }) => {
      await moveAsCandidate(system, ref, move)
    })
  addForm(app, settings.secretKeys, 'accept', async ({ ref, fields }) => {
    await moveAsCandidate(system, ref, 'accept')
    await saveTimeZone(system, ref, fields.get('zone') ?? '')
  })
  addForm(app, settings.secretKeys, 'language', async ({ ref, fields }) => {
    await saveLanguage(system, ref, fields.get('language') ?? '')
  })
  addForm(app, settings.secretKeys, 'link', async ({ ref, request, reply }) => {
    const outcome = await sendLinkAgain(system, ref).then(
      () => 'sent',
      (error) => {
        if (error instanceof DomainError && error.kind === 'too_many_mails') return 'too_soon'
        throw error
      },
    )
    return () => reply.redirect(`${INVITATION_PATH}/${request.params.token}?link=${outcome}`, 303)
  })
  addMove('decline', 'decline')
  if (!settings.playerUrl) return
  addMove('finish', 'complete')
  addForm(app, settings.secretKeys, 'start', async ({ ref, reply }) => {
    await moveAsCandidate(system, ref, 'start')
    const invite = await findInvitation(system, ref)
    const player = invite?.status === 'started' ? playerAddress(settings, invite) : null
    return player === null ? undefined : () => reply.redirect(player, 303)
  })
}

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { answerOwnershipOffer, findOwnershipOffer } from '../../../domain/members/ownership-offers.ts'
import { savePreferences } from '../../../domain/members/preferences.ts'
import { changeName, changePassword } from '../../../domain/sign-in/account.ts'
import { endOtherSessions, endOwnSession, listSessions } from '../../../domain/sign-in/end-sessions.ts'
import { readFactors } from '../../../domain/sign-in/factors.ts'
import { listTrustedDevices, removeTrustedDevice } from '../../../domain/sign-in/trusted-devices.ts'
import { findOfferedProviders, listOperatorProviders } from '../../../domain/single-sign-on/find-providers.ts'
import { listOwnIdentities } from '../../../domain/single-sign-on/identities.ts'
import { html } from '../../../html/html.ts'
import { emptyForm, type Form, readFields, submit } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { RECENT_AUTHENTICATION } from '../kit/recent-authentication.ts'
import { accountPage } from './account.page.ts'
import { browserOf } from './browser-of.ts'
import { linkedPanel } from './linked.page.ts'
import { offerPanel } from './ownership-offer.page.ts'
import { signedInOf } from './session.ts'

type Query = { done?: string }

export function accountRoutes(app: FastifyInstance): void {
  const page = async (request: FastifyRequest, form: Form, done?: string) => {
    const signedIn = signedInOf(request)
    const { factors, recoveryCodes } = await readFactors(request.ctx, signedIn)
    const sessions = await listSessions(request.ctx, signedIn)
    const browsers = await listTrustedDevices(request.ctx, signedIn)
    const { ctx } = request
    const linked = linkedPanel({
      ctx,
      identities: await listOwnIdentities(ctx, signedIn),
      // Accounts can be linked only after the email address was verified.
      offered: signedIn.credential.emailVerifiedAt
        ? [...(await findOfferedProviders(ctx, ctx.organization.id)), ...listOperatorProviders(ctx)]
        : [],
    })
    const accountContent = accountPage(form, { ctx, signedIn, factors, recoveryCodes, linked, sessions, browsers, done })
    const offer = ctx.actor.kind === 'member' && (await findOwnershipOffer(ctx, ctx.actor.id))
    return offer ? { ...accountContent, body: html`${offerPanel(ctx, offer)}${accountContent.body}` } : accountContent
  }
  const answer = (request: FastifyRequest, reply: FastifyReply, done: string, work: (values: URLSearchParams) => Promise<void>) =>
    submit(request, reply, {
      page: (form) => page(request, form),
      work: async (values) => {
        await work(values)
        return `${pathOf(request.ctx, 'account')}?done=${done}`
      },
    })

  app.get<{ Querystring: Query }>('/account', async (request, reply) =>
    show(request, reply, await page(request, emptyForm, request.query.done)),
  )

  app.post('/account/name', (request, reply) =>
    answer(request, reply, 'name', (values) =>
      changeName(request.ctx, signedInOf(request), readFields(values, 'firstName', 'lastName')),
    ),
  )

  // Lists send it too, to choose the page size. The answer redirects back to the list.
  app.post('/account/preferences', (request, reply) =>
    submit(request, reply, {
      page: (form) => page(request, form),
      work: async (values) => {
        const { timeZone, pageSize, back } = readFields(values, 'timeZone', 'pageSize', 'back')
        await savePreferences(request.ctx, {
          ...(values.has('timeZone') && { timeZone: timeZone || null }),
          ...(values.has('pageSize') && { pageSize: Number(pageSize) }),
          ...(values.has('hasNotices') && { notices: values.getAll('notices') }),
        })
        return back.startsWith(pathOf(request.ctx)) ? back : `${pathOf(request.ctx, 'account')}?done=preferences`
      },
    }),
  )

  app.post('/account/ownership', RECENT_AUTHENTICATION, (request, reply) =>
    answer(request, reply, 'ownership', (values) =>
      answerOwnershipOffer(request.ctx, { takes: readFields(values, 'answer').answer === 'take' }),
    ),
  )

  app.post('/account/password', { config: { hasOwnQueue: true, requiresRecentAuthentication: true } }, (request, reply) =>
    answer(request, reply, 'password', (values) => {
      const input = { ...readFields(values, 'current', 'password'), origin: browserOf(request) }
      return changePassword(request.ctx, signedInOf(request), input)
    }),
  )

  app.post<{ Params: { sessionId: string } }>('/account/sessions/:sessionId/end', (request, reply) =>
    answer(request, reply, 'session', () => endOwnSession(request.ctx, signedInOf(request), request.params.sessionId)),
  )

  app.post<{ Params: { deviceId: string } }>('/account/browsers/:deviceId/forget', (request, reply) =>
    answer(request, reply, 'browser', () =>
      removeTrustedDevice(request.ctx, signedInOf(request).credential.id, request.params.deviceId),
    ),
  )

  app.post('/account/sessions/end-others', (request, reply) =>
    answer(request, reply, 'sessions', () => endOtherSessions(request.ctx, signedInOf(request))),
  )
}

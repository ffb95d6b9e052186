import type { FastifyInstance } from 'fastify'
import { offerPasskeySignIn, signInByPasskey } from '../../../domain/sign-in/second-step.ts'
import { signIn } from '../../../domain/sign-in/sign-in.ts'
import { findProviderToSignOutOf } from '../../../domain/single-sign-on/provider-sign-out.ts'
import { PORTAL_PREFIX } from '../../../http/addresses/links.ts'
import { emptyForm, type Form, readFields, submit } from '../kit/forms.ts'
import { show } from '../kit/layout.ts'
import { browserOf } from './browser-of.ts'
import { signInOffers } from './offers.ts'
import { continueSignIn } from './pending-second-step.ts'
import { safeNext, signInContext } from './session.ts'
import type { Portal } from './settings.ts'
import { signInPage } from './sign-in.page.ts'
import { isResume } from './unsent-forms.ts'

const NOTICES = new Map([
  ['reset', 'Your new password is set. Sign in with it now.'],
  ['browser', 'This browser is let in. Sign in with your password now.'],
  ['late', 'That took too long, or something has changed meanwhile. Please sign in again.'],
])

const KEPT = 'You were signed out, and nothing was sent. What you had filled in is kept: sign in to send it.'

type Query = { next?: string | string[]; done?: string }

export function signInRoutes(app: FastifyInstance, portal: Portal): void {
  const { system, cookie } = portal
  const offers = signInOffers(system)

  const page = async (form: Form, next: string, notice?: string) =>
    signInPage(form, safeNext(next), {
      notice,
      passkey: offerPasskeySignIn(system),
      ...(await offers()),
    })

  app.get<{ Querystring: Query }>('/sign-in', async (request, reply) => {
    const { next = '', done } = request.query
    const notice = NOTICES.get(done ?? '') ?? (isResume(String(next)) ? KEPT : undefined)
    return show(request, reply, await page(emptyForm, String(next), notice))
  })

  app.post('/sign-in', { config: { hasOwnQueue: true } }, (request, reply) =>
    submit(request, reply, {
      page: (form) => page(form, readFields(form.values, 'next').next),
      async work(values) {
        const { email, password, next } = readFields(values, 'email', 'password', 'next')
        const entry = await signIn(signInContext(system, request), { email: email.trim(), password, browser: browserOf(request) })
        return continueSignIn(portal, request, reply, { entry, next: safeNext(next) })
      },
    }),
  )

  app.post('/sign-in/passkey', (request, reply) =>
    submit(request, reply, {
      page: (form) => page(form, readFields(form.values, 'next').next),
      async work(values) {
        const { answer, next } = readFields(values, 'answer', 'next')
        const session = await signInByPasskey(signInContext(system, request), { answer, browser: browserOf(request) })
        return continueSignIn(portal, request, reply, { entry: { session }, next: safeNext(next) })
      },
    }),
  )

  app.post('/sign-out', async (request, reply) => {
    const signOutProvider = request.signedIn && (await findProviderToSignOutOf(system, request.signedIn))
    await cookie.end(request, reply)
    reply.header('clear-site-data', '"cache"') // forms that were refused: see refuseForm
    return reply.redirect(
      signOutProvider ? `${PORTAL_PREFIX}/sign-in/with/${signOutProvider}/left` : `${PORTAL_PREFIX}/sign-in`,
      303,
    )
  })
}

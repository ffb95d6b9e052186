import type { FastifyInstance } from 'fastify'
import { hasFactor } from '../../../domain/sign-in/has-factor.ts'
import { NO_PASSWORD } from '../../../domain/sign-in/passwords.ts'
import { reauthenticate } from '../../../domain/sign-in/recent-authentication.ts'
import { findSavedForm } from '../../../domain/sign-in/saved-forms.ts'
import type { SignedIn } from '../../../domain/sign-in/sessions.ts'
import { findReauthenticationProviders } from '../../../domain/single-sign-on/find-providers.ts'
import { emptyForm, type Form, readFields, submit } from '../kit/forms.ts'
import { show } from '../kit/layout.ts'
import { queryOf } from '../kit/paging.ts'
import { authenticatePage } from './authenticate.page.ts'
import { browserOf } from './browser-of.ts'
import { missingFormPage, resumePage } from './resume.page.ts'
import { secondStepAddress } from './second-step.page.ts'
import { safeNext, signedInOf, signInAddress, signInContext } from './session.ts'
import type { Portal } from './settings.ts'
import { redirectToProvider } from './single-sign-on.routes.ts'

/** Authentication again, for signed-in people, and their saved forms. */
export function authenticateRoutes(app: FastifyInstance, portal: Portal): void {
  const { system, cookie } = portal
  const page = async (form: Form, signedIn: SignedIn, next: string) => {
    const { email, passwordHash } = signedIn.credential
    const methods = {
      witnesses: await findReauthenticationProviders(system, signedIn),
      hasPassword: passwordHash !== NO_PASSWORD,
    }
    return authenticatePage(form, email, next, methods)
  }

  app.register(async (scope) => {
    scope.addHook('onRequest', async (request, reply) => {
      if (!request.signedIn) return reply.redirect(signInAddress(request.method === 'GET' ? request.originalUrl : ''), 303)
    })

    scope.get('/prove', async (request, reply) => {
      const { credential } = signedInOf(request)
      const next = safeNext(queryOf(request).get('next') ?? '')
      if (await hasFactor(system, credential.id)) return reply.redirect(secondStepAddress(next), 303)
      return show(request, reply, await page(emptyForm, signedInOf(request), next))
    })

    scope.post('/prove', { config: { hasOwnQueue: true } }, (request, reply) => {
      const signedIn = signedInOf(request)
      return submit(request, reply, {
        page: (form) => page(form, signedIn, safeNext(readFields(form.values, 'next').next)),
        async work(values) {
          const { current, next } = readFields(values, 'current', 'next')
          const session = await reauthenticate(signInContext(system, request), signedIn, { current, browser: browserOf(request) })
          if (!session) return signInAddress(safeNext(next))
          await cookie.begin(request, reply, session)
          return safeNext(next)
        },
      })
    })

    scope.get<{ Params: { providerId: string } }>('/prove/with/:providerId', async (request, reply) => {
      const signedIn = signedInOf(request)
      const purpose = { kind: 'fresh', credentialId: signedIn.credential.id } as const
      return redirectToProvider(portal, request, reply, purpose, safeNext(queryOf(request).get('next') ?? ''))
    })

    scope.get<{ Params: { formId: string } }>('/resume/:formId', async (request, reply) => {
      const form = await findSavedForm(system, signedInOf(request), request.params.formId, browserOf(request))
      return form ? show(request, reply, resumePage(form)) : show(request, reply, missingFormPage, 404)
    })
  })
}

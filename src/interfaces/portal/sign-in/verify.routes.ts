import type { FastifyInstance } from 'fastify'
import { requestPasswordReset } from '../../../domain/sign-in/account.ts'
import { emptyForm, readFields, submit } from '../kit/forms.ts'
import { show } from '../kit/layout.ts'
import { queryOf } from '../kit/paging.ts'
import { browserOf } from './browser-of.ts'
import { safeNext, signedInOf, signInAddress } from './session.ts'
import type { Portal } from './settings.ts'
import { verificationSentPage, verifyPage } from './verify.page.ts'

/** Verifies the email address of a signed-in person. */
export function verifyRoutes(app: FastifyInstance, { system }: Portal): void {
  app.register(async (scope) => {
    scope.addHook('onRequest', async (request, reply) => {
      if (!request.signedIn) return reply.redirect(signInAddress(request.method === 'GET' ? request.originalUrl : ''), 303)
    })

    scope.get('/verify', async (request, reply) => {
      const next = safeNext(queryOf(request).get('next') ?? '')
      const { email, emailVerifiedAt } = signedInOf(request).credential
      return emailVerifiedAt ? reply.redirect(next, 303) : show(request, reply, verifyPage(emptyForm, email, next))
    })

    scope.post('/verify', (request, reply) => {
      const { email, emailVerifiedAt } = signedInOf(request).credential
      return submit(request, reply, {
        page: (form) => verifyPage(form, email, safeNext(readFields(form.values, 'next').next)),
        async work(values) {
          const next = safeNext(readFields(values, 'next').next)
          if (emailVerifiedAt) return next
          await requestPasswordReset(system, { email, origin: browserOf(request) })
          return verificationSentPage(email, next)
        },
      })
    })
  })
}

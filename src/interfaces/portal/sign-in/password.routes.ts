import type { FastifyInstance } from 'fastify'
import { readAccountLink } from '../../../domain/secrets/account-tokens.ts'
import { admitBrowser, readResetOffer, requestPasswordReset, resetPassword } from '../../../domain/sign-in/account.ts'
import { PORTAL_PREFIX } from '../../../http/addresses/links.ts'
import { emptyForm, readFields, submit } from '../kit/forms.ts'
import { show } from '../kit/layout.ts'
import { browserOf } from './browser-of.ts'
import { invalidLinkPage } from './join.page.ts'
import { forgotPage, resetPage, resetRequestedPage } from './password.page.ts'
import { signInContext } from './session.ts'
import type { Portal } from './settings.ts'

type Route = { Params: { token: string } }

export function passwordRoutes(app: FastifyInstance, { system, settings, cookie }: Portal): void {
  const read = async (token: string) => {
    const ref = readAccountLink(settings.secretKeys, 'reset', token)
    const offer = ref && (await readResetOffer(system, ref))
    return offer && { ref, offer }
  }

  app.get('/forgot', async (request, reply) => show(request, reply, forgotPage(emptyForm)))

  app.post('/forgot', (request, reply) =>
    submit(request, reply, {
      page: forgotPage,
      async work(values) {
        await requestPasswordReset(system, {
          email: readFields(values, 'email').email.trim(),
          origin: browserOf(request),
        })
        return resetRequestedPage
      },
    }),
  )

  app.get<Route & { Querystring: { why?: string } }>('/reset/:token', async (request, reply) => {
    const { token } = request.params
    const link = await read(token)
    if (!link) return show(request, reply, invalidLinkPage, 404)
    const isListed = request.query.why === 'listed'
    return show(request, reply, resetPage(emptyForm, token, { ...link.offer, isListed }))
  })

  app.post<Route>('/reset/:token', { config: { hasOwnQueue: true } }, async (request, reply) => {
    const { token } = request.params
    const link = await read(token)
    if (!link) return show(request, reply, invalidLinkPage, 404)
    return submit(request, reply, {
      page: (form) => resetPage(form, token, link.offer),
      async work(values) {
        const input = { ...readFields(values, 'password'), origin: browserOf(request) }
        const admitted = await resetPassword(signInContext(system, request), link.ref, input)
        if (!admitted) return invalidLinkPage
        cookie.remember(reply, admitted.device)
        return `${PORTAL_PREFIX}/sign-in?done=reset`
      },
    })
  })

  app.post<Route>('/reset/:token/browser', async (request, reply) => {
    const link = await read(request.params.token)
    const admitted = link && (await admitBrowser(system, link.ref, browserOf(request)))
    if (!admitted) return show(request, reply, invalidLinkPage, 404)
    cookie.remember(reply, admitted.device)
    return reply.redirect(`${PORTAL_PREFIX}/sign-in?done=browser`, 303)
  })
}

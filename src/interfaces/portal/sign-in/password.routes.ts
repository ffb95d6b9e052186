import type { FastifyInstance } from 'fastify'
import { readResetOffer, requestPasswordReset, resetPassword } from '../../../domain/access/account.ts'
import { readAccountLink } from '../../../domain/secrets/account-tokens.ts'
import { PORTAL_PREFIX } from '../../../http/addresses/links.ts'
import { emptyForm, readFields, submit } from '../kit/forms.ts'
import { show } from '../kit/layout.ts'
import { deadLinkPage } from './join.page.ts'
import { askedPage, forgotPage, resetPage } from './password.page.ts'
import { browserOf } from './session.ts'
import type { Portal } from './settings.ts'

type Route = { Params: { token: string } }

export function passwordRoutes(app: FastifyInstance, { system, settings }: Portal): void {
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
        return askedPage
      },
    }),
  )

  app.get<Route>('/reset/:token', async (request, reply) => {
    const { token } = request.params
    const found = await read(token)
    if (!found) return show(request, reply, deadLinkPage, 404)
    return show(request, reply, resetPage(emptyForm, token, found.offer.email))
  })

  app.post<Route>('/reset/:token', { config: { hasOwnLine: true } }, async (request, reply) => {
    const { token } = request.params
    const found = await read(token)
    if (!found) return show(request, reply, deadLinkPage, 404)
    return submit(request, reply, {
      page: (form) => resetPage(form, token, found.offer.email),
      async work(values) {
        const isReset = await resetPassword(system, found.ref, { ...readFields(values, 'password'), origin: browserOf(request) })
        return isReset ? `${PORTAL_PREFIX}/sign-in?done=reset` : deadLinkPage
      },
    })
  })
}

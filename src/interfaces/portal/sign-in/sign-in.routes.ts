import type { FastifyInstance } from 'fastify'
import { signIn } from '../../../domain/access/sign-in.ts'
import { PORTAL_PREFIX } from '../../../http/addresses/links.ts'
import { emptyForm, readFields, submit } from '../kit/forms.ts'
import { show } from '../kit/layout.ts'
import { browserOf, safeNext } from './session.ts'
import type { Portal } from './settings.ts'
import { signInPage } from './sign-in.page.ts'

type Query = { next?: string | string[]; done?: string }

export function signInRoutes(app: FastifyInstance, { system, cookie }: Portal): void {
  app.get<{ Querystring: Query }>('/sign-in', async (request, reply) => {
    const { next = '', done } = request.query
    const notice = done === 'reset' ? 'Your new password is set. Sign in with it now.' : undefined
    return show(request, reply, signInPage(emptyForm, safeNext(String(next)), notice))
  })

  app.post('/sign-in', { config: { hasOwnLine: true } }, (request, reply) =>
    submit(request, reply, {
      page: (form) => signInPage(form, safeNext(readFields(form.values, 'next').next)),
      async work(values) {
        const { email, password, next } = readFields(values, 'email', 'password', 'next')
        await cookie.begin(request, reply, await signIn(system, { email: email.trim(), password, browser: browserOf(request) }))
        return safeNext(next)
      },
    }),
  )

  app.post('/sign-out', async (request, reply) => {
    await cookie.end(request, reply)
    return reply.redirect(`${PORTAL_PREFIX}/sign-in`, 303)
  })
}

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { endSignInException, nameSignInException, OWN_WAYS, type SignInException } from '../../../domain/members/own-ways.ts'
import { allowOtherWays, enforceSso } from '../../../domain/single-sign-on/enforcement.ts'
import { type Form, readFields, submit } from '../kit/forms.ts'
import { type Page, pathOf } from '../kit/layout.ts'
import { BASE } from './addresses.ts'

/** Where owners make single sign-on the only way in, and say who may sign in past it. @param page with what is wrong with a form. */
export function enforcementRoutes(app: FastifyInstance, page: (request: FastifyRequest, form: Form) => Promise<Page>): void {
  app.post(`/${BASE}/enforce`, { config: { fresh: true } }, (request, reply) =>
    submit(request, reply, {
      page: (form) => page(request, form),
      work: async (values) => {
        await enforceSso(request.ctx, Number(values.get('ssoSessionHours') || Number.NaN))
        return `${pathOf(request.ctx, BASE)}?done=enforced`
      },
    }),
  )
  app.post(`/${BASE}/allow`, { config: { fresh: true } }, async (request, reply) => {
    await allowOtherWays(request.ctx)
    return reply.redirect(`${pathOf(request.ctx, BASE)}?done=allowed`, 303)
  })
  app.post(`/${BASE}/own-ways`, { config: { fresh: true } }, (request, reply) =>
    submit(request, reply, {
      page: (form) => page(request, form),
      work: async (values) => {
        const { email, signInException } = readFields(values, 'email', 'signInException')
        await nameSignInException(request.ctx, { email, signInException: readSignInException(signInException) })
        return `${pathOf(request.ctx, BASE)}?done=sign-in-exception`
      },
    }),
  )
  app.post<{ Params: { memberId: string } }>(`/${BASE}/own-ways/:memberId/end`, { config: { fresh: true } }, (request, reply) =>
    submit(request, reply, {
      page: (form) => page(request, form),
      work: async () => {
        await endSignInException(request.ctx, request.params.memberId)
        return `${pathOf(request.ctx, BASE)}?done=sign-in-exception`
      },
    }),
  )
}

/** What the form offers; anything else is a guest, who may do less. */
const readSignInException = (text: string): SignInException =>
  OWN_WAYS.find((signInException) => signInException === text) ?? 'guest'

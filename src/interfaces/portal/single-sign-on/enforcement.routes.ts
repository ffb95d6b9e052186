import type { FastifyInstance, FastifyRequest } from 'fastify'
import {
  endSignInException,
  grantSignInException,
  SIGN_IN_EXCEPTIONS,
  type SignInException,
} from '../../../domain/members/sign-in-exceptions.ts'
import { allowOtherSignInMethods, enforceSso } from '../../../domain/single-sign-on/enforcement.ts'
import { type Form, readFields, submit } from '../kit/forms.ts'
import { type Page, pathOf } from '../kit/layout.ts'
import { RECENT_AUTHENTICATION } from '../kit/recent-authentication.ts'
import { SSO_SETTINGS } from './addresses.ts'

/** Requires single sign-on, and exempts members. @param page shows the settings with a form's mistakes. */
export function enforcementRoutes(app: FastifyInstance, page: (request: FastifyRequest, form: Form) => Promise<Page>): void {
  app.post(`/${SSO_SETTINGS}/enforce`, RECENT_AUTHENTICATION, (request, reply) =>
    submit(request, reply, {
      page: (form) => page(request, form),
      work: async (values) => {
        await enforceSso(request.ctx, Number(values.get('ssoSessionHours') || Number.NaN))
        return `${pathOf(request.ctx, SSO_SETTINGS)}?done=enforced`
      },
    }),
  )
  app.post(`/${SSO_SETTINGS}/allow`, RECENT_AUTHENTICATION, async (request, reply) => {
    await allowOtherSignInMethods(request.ctx)
    return reply.redirect(`${pathOf(request.ctx, SSO_SETTINGS)}?done=allowed`, 303)
  })
  app.post(`/${SSO_SETTINGS}/own-ways`, RECENT_AUTHENTICATION, (request, reply) =>
    submit(request, reply, {
      page: (form) => page(request, form),
      work: async (values) => {
        const { email, signInException } = readFields(values, 'email', 'signInException')
        await grantSignInException(request.ctx, { email, signInException: readSignInException(signInException) })
        return `${pathOf(request.ctx, SSO_SETTINGS)}?done=sign-in-exception`
      },
    }),
  )
  app.post<{ Params: { memberId: string } }>(`/${SSO_SETTINGS}/own-ways/:memberId/end`, RECENT_AUTHENTICATION, (request, reply) =>
    submit(request, reply, {
      page: (form) => page(request, form),
      work: async () => {
        await endSignInException(request.ctx, request.params.memberId)
        return `${pathOf(request.ctx, SSO_SETTINGS)}?done=sign-in-exception`
      },
    }),
  )
}

/** Unknown values become guest, the exception with the fewest rights. */
const readSignInException = (text: string): SignInException =>
  SIGN_IN_EXCEPTIONS.find((signInException) => signInException === text) ?? 'guest'

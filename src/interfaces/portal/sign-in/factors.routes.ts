import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../../domain/errors.ts'
import { enrolApp, enrolPasskey, offerApp, offerPasskey } from '../../../domain/sign-in/enrol-factor.ts'
import { readFactors, removeFactor, renameFactor, renewRecoveryCodes } from '../../../domain/sign-in/factors.ts'
import { relyingParty } from '../../../domain/sign-in/passkeys.ts'
import { emptyForm, type Form, readFields, submit, valuesOf } from '../kit/forms.ts'
import { type Page, show } from '../kit/layout.ts'
import { queryOf } from '../kit/paging.ts'
import { RECENT_AUTHENTICATION } from '../kit/recent-authentication.ts'
import { authenticatorPage, chooseFactorPage, factorPage, passkeyPage, recoveryCodesPage } from './factors.page.ts'
import { safeNext, signedInOf, signInAddress, signInContext } from './session.ts'
import type { Portal } from './settings.ts'
import { turnAway } from './turn-away.ts'
import { verifyAddress } from './verify.page.ts'

/** Requires a recent authentication. */

type Route = { Params: { factorId: string } }

const nextOf = (request: FastifyRequest) => safeNext(queryOf(request).get('next') ?? '')

/** Requires a verified email address. */
const VERIFIED_ADDRESS = {
  onRequest: async (request: FastifyRequest, reply: FastifyReply) => {
    if (request.signedIn?.credential.emailVerifiedAt === null) return reply.redirect(verifyAddress(nextOf(request)), 303)
  },
}

/** Second factors belong to a person and apply in all organizations. The pages are also open to members who must add one before anything else. */
export function factorsRoutes(app: FastifyInstance, { system }: Portal): void {
  app.register(async (scope) => {
    scope.addHook('onRequest', async (request, reply) => {
      if (!request.signedIn) return turnAway(system, request, reply, signInAddress)
    })
    const nextIn = (values: URLSearchParams) => safeNext(readFields(values, 'next').next)
    /** Address of the next page. My account also shows the notice. */
    const addressAfter = (values: URLSearchParams, done: string) =>
      nextIn(values).endsWith('/account') ? `${nextIn(values)}?done=${done}` : nextIn(values)
    const answer = (
      request: FastifyRequest,
      reply: FastifyReply,
      page: (form: Form) => Page | Promise<Page>,
      work: (values: URLSearchParams) => Promise<string[]>,
    ) =>
      submit(request, reply, {
        page,
        async work(values) {
          const codes = await work(values)
          return codes.length > 0 ? recoveryCodesPage(codes, nextIn(values)) : addressAfter(values, 'factor-added')
        },
      })

    scope.get('/factors', VERIFIED_ADDRESS, async (request, reply) => {
      const { factors, isRequired } = await readFactors(system, signedInOf(request))
      const facts = { isAsked: isRequired && factors.length === 0, hasPasskeys: relyingParty(system) !== null }
      return show(request, reply, chooseFactorPage(nextOf(request), facts))
    })

    scope.get('/factors/app', { ...RECENT_AUTHENTICATION, ...VERIFIED_ADDRESS }, async (request, reply) =>
      show(request, reply, authenticatorPage(emptyForm, offerApp(system, signedInOf(request)), nextOf(request))),
    )
    scope.post('/factors/app', RECENT_AUTHENTICATION, (request, reply) => {
      const signedIn = signedInOf(request)
      const page = (form: Form) =>
        authenticatorPage(form, offerApp(system, signedIn, readFields(form.values, 'sealed').sealed), nextIn(form.values))
      return answer(request, reply, page, (values) =>
        enrolApp(signInContext(system, request), signedIn, readFields(values, 'sealed', 'code', 'name')),
      )
    })

    scope.get('/factors/passkey', { ...RECENT_AUTHENTICATION, ...VERIFIED_ADDRESS }, async (request, reply) =>
      show(request, reply, passkeyPage(emptyForm, await offerPasskey(system, signedInOf(request)), nextOf(request))),
    )
    scope.post('/factors/passkey', RECENT_AUTHENTICATION, (request, reply) => {
      const signedIn = signedInOf(request)
      const page = async (form: Form) => passkeyPage(form, await offerPasskey(system, signedIn), nextIn(form.values))
      return answer(request, reply, page, (values) =>
        enrolPasskey(signInContext(system, request), signedIn, readFields(values, 'sealed', 'answer', 'name')),
      )
    })

    scope.post('/factors/recovery-codes', RECENT_AUTHENTICATION, async (request, reply) => {
      const next = nextIn(valuesOf(request))
      const codes = await renewRecoveryCodes(signInContext(system, request), signedInOf(request))
      return codes.length > 0 ? show(request, reply, recoveryCodesPage(codes, next)) : reply.redirect(next, 303)
    })

    const onePage = async (request: FastifyRequest<Route>, form: Form, next: string): Promise<Page> => {
      const { factors, isRequired } = await readFactors(system, signedInOf(request))
      const factor = factors.find(({ id }) => id === request.params.factorId)
      if (!factor) throw new DomainError('not_permitted')
      const isLast = factors.length === 1
      return factorPage(form, { factor, next, hasToStay: isLast && isRequired, isLast })
    }
    scope.get<Route>('/factors/:factorId', async (request, reply) =>
      show(request, reply, await onePage(request, emptyForm, nextOf(request))),
    )
    scope.post<Route>('/factors/:factorId', (request, reply) =>
      submit(request, reply, {
        page: (form) => onePage(request, form, nextIn(form.values)),
        async work(values) {
          await renameFactor(signInContext(system, request), signedInOf(request), {
            id: request.params.factorId,
            ...readFields(values, 'name'),
          })
          return addressAfter(values, 'factor-renamed')
        },
      }),
    )
    scope.post<Route>('/factors/:factorId/remove', RECENT_AUTHENTICATION, (request, reply) =>
      submit(request, reply, {
        page: (form) => onePage(request, form, nextIn(form.values)),
        async work(values) {
          await removeFactor(signInContext(system, request), signedInOf(request), request.params.factorId)
          return addressAfter(values, 'factor-removed')
        },
      }),
    )
  })
}

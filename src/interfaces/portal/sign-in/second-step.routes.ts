import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  readSecondStep,
  type SecondStepOutcome,
  type SecondStepState,
  signInByCode,
  signInByOwnPasskey,
} from '../../../domain/sign-in/second-step.ts'
import { PORTAL_PREFIX } from '../../../http/addresses/links.ts'
import { emptyForm, readFields, submit } from '../kit/forms.ts'
import { type Page, show } from '../kit/layout.ts'
import { queryOf } from '../kit/paging.ts'
import { browserOf } from './browser-of.ts'
import { continueSignIn, findPendingSecondStep } from './pending-second-step.ts'
import { secondStepPage } from './second-step.page.ts'
import { safeNext, signInContext } from './session.ts'
import type { Portal } from './settings.ts'

const SIGN_IN_AGAIN = `${PORTAL_PREFIX}/sign-in?done=late`

/** Second factor, after the password or when an organization requires one of a signed-in person. */
export function secondStepRoutes(app: FastifyInstance, portal: Portal): void {
  const { system } = portal

  app.get('/second-step', async (request, reply) => {
    const waiting = findPendingSecondStep(portal, request)
    const step = waiting && (await readSecondStep(system, waiting))
    if (!step) return reply.redirect(SIGN_IN_AGAIN, 303)
    return show(request, reply, secondStepPage(emptyForm, step, safeNext(queryOf(request).get('next') ?? '')))
  })

  const answer = async (
    request: FastifyRequest,
    reply: FastifyReply,
    signIn: (waiting: SecondStepState, values: URLSearchParams) => Promise<SecondStepOutcome | null>,
  ) => {
    const waiting = findPendingSecondStep(portal, request)
    const step = waiting && (await readSecondStep(system, waiting))
    if (!step) return reply.redirect(SIGN_IN_AGAIN, 303)
    return submit(request, reply, {
      page: async (form): Promise<Page> => {
        const currentStep = (await readSecondStep(system, waiting)) ?? step
        return secondStepPage(form, currentStep, safeNext(readFields(form.values, 'next').next))
      },
      async work(values) {
        const entry = await signIn(waiting, values)
        if (!entry) return SIGN_IN_AGAIN
        return continueSignIn(portal, request, reply, { entry, next: safeNext(readFields(values, 'next').next) })
      },
    })
  }

  app.post('/second-step', (request, reply) =>
    answer(request, reply, (waiting, values) =>
      signInByCode(signInContext(system, request), waiting, {
        ...readFields(values, 'code'),
        remembers: values.has('remember'),
        browser: browserOf(request),
      }),
    ),
  )

  app.post('/second-step/passkey', (request, reply) =>
    answer(request, reply, (waiting, values) =>
      signInByOwnPasskey(signInContext(system, request), waiting, {
        ...readFields(values, 'answer'),
        browser: browserOf(request),
      }),
    ),
  )
}

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { changeName, changePassword } from '../../../domain/access/account.ts'
import { endOtherSessions, endOwnSession, listSessions } from '../../../domain/access/sessions.ts'
import { keepPreferences } from '../../../domain/members/preferences.ts'
import { emptyForm, type Form, readFields, submit } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { accountPage } from './account.page.ts'
import { browserOf, signedInOf } from './session.ts'

type Query = { done?: string }

export function accountRoutes(app: FastifyInstance): void {
  const page = async (request: FastifyRequest, form: Form, done?: string) => {
    const signedIn = signedInOf(request)
    return accountPage(form, { ctx: request.ctx, signedIn, sessions: await listSessions(request.ctx, signedIn), done })
  }
  const answer = (request: FastifyRequest, reply: FastifyReply, done: string, work: (values: URLSearchParams) => Promise<void>) =>
    submit(request, reply, {
      page: (form) => page(request, form),
      work: async (values) => {
        await work(values)
        return `${pathOf(request.ctx, 'account')}?done=${done}`
      },
    })

  app.get<{ Querystring: Query }>('/account', async (request, reply) =>
    show(request, reply, await page(request, emptyForm, request.query.done)),
  )

  app.post('/account/name', (request, reply) =>
    answer(request, reply, 'name', (values) =>
      changeName(request.ctx, signedInOf(request), readFields(values, 'firstName', 'lastName')),
    ),
  )

  // Also from below a list, back to which it leads.
  app.post('/account/preferences', (request, reply) =>
    submit(request, reply, {
      page: (form) => page(request, form),
      work: async (values) => {
        const { timeZone, pageSize, back } = readFields(values, 'timeZone', 'pageSize', 'back')
        await keepPreferences(request.ctx, {
          ...(values.has('timeZone') && { timeZone: timeZone || null }),
          ...(values.has('pageSize') && { pageSize: Number(pageSize) }),
        })
        return back.startsWith(pathOf(request.ctx)) ? back : `${pathOf(request.ctx, 'account')}?done=preferences`
      },
    }),
  )

  app.post('/account/password', { config: { hasOwnLine: true } }, (request, reply) =>
    answer(request, reply, 'password', (values) => {
      const input = { ...readFields(values, 'current', 'password'), origin: browserOf(request) }
      return changePassword(request.ctx, signedInOf(request), input)
    }),
  )

  app.post<{ Params: { sessionId: string } }>('/account/sessions/:sessionId/end', (request, reply) =>
    answer(request, reply, 'session', () => endOwnSession(request.ctx, signedInOf(request), request.params.sessionId)),
  )

  app.post('/account/sessions/end-others', (request, reply) =>
    answer(request, reply, 'sessions', () => endOtherSessions(request.ctx, signedInOf(request))),
  )
}

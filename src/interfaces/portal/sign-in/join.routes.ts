import type { FastifyInstance } from 'fastify'
import { join, readJoinOffer } from '../../../domain/members/join.ts'
import { readAccountLink } from '../../../domain/secrets/account-tokens.ts'
import { emptyForm, readFields, submit } from '../kit/forms.ts'
import { homeOf, show } from '../kit/layout.ts'
import { deadLinkPage, joinPage } from './join.page.ts'
import { browserOf } from './session.ts'
import type { Portal } from './settings.ts'

type Route = { Params: { token: string } }

export function joinRoutes(app: FastifyInstance, { system, settings, cookie }: Portal): void {
  const read = async (token: string) => {
    const ref = readAccountLink(settings.secretKeys, 'join', token)
    const offer = ref && (await readJoinOffer(system, ref))
    return offer && { ref, offer }
  }

  app.get<Route>('/join/:token', async (request, reply) => {
    const { token } = request.params
    const found = await read(token)
    return found ? show(request, reply, joinPage(emptyForm, token, found.offer)) : show(request, reply, deadLinkPage, 404)
  })

  app.post<Route>('/join/:token', { config: { hasOwnLine: true } }, async (request, reply) => {
    const { token } = request.params
    const found = await read(token)
    if (!found) return show(request, reply, deadLinkPage, 404)
    return submit(request, reply, {
      page: async (form) => joinPage(form, token, (await read(token))?.offer ?? found.offer),
      async work(values) {
        const input = { ...readFields(values, 'firstName', 'lastName', 'password'), browser: browserOf(request) }
        const joined = await join(system, found.ref, input)
        if (!joined) return deadLinkPage
        await cookie.begin(request, reply, joined)
        return homeOf({ id: joined.organizationId })
      },
    })
  })
}

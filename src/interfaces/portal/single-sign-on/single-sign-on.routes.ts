import type { FastifyInstance, FastifyRequest } from 'fastify'
import { changeProvider, discardDraft } from '../../../domain/single-sign-on/change-provider.ts'
import { addDomain, listDomains, removeDomain, verifyDomain } from '../../../domain/single-sign-on/domains.ts'
import { readEnforcement } from '../../../domain/single-sign-on/enforcement.ts'
import {
  addProvider,
  allowRelinking,
  getProvider,
  listProviders,
  removeProvider,
} from '../../../domain/single-sign-on/providers.ts'
import { emptyForm, type Form, readFields, submit } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { queryOf } from '../kit/paging.ts'
import { RECENT_AUTHENTICATION } from '../kit/recent-authentication.ts'
import { SSO_SETTINGS } from './addresses.ts'
import { enforcementRoutes } from './enforcement.routes.ts'
import { readProvider } from './provider.form.ts'
import { newProviderPage, providerPage, singleSignOnPage } from './single-sign-on.page.ts'

type Route = { Params: { providerId: string } }
type DomainRoute = { Params: { domainId: string } }

export function singleSignOnSettingsRoutes(app: FastifyInstance): void {
  const doneOf = (request: FastifyRequest) => queryOf(request).get('done') ?? ''
  const page = async ({ ctx }: FastifyRequest, form: Form, done = '') =>
    singleSignOnPage(form, {
      ctx,
      providers: await listProviders(ctx),
      domains: await listDomains(ctx),
      done,
      enforcement: await readEnforcement(ctx),
    })
  const onePage = async ({ ctx, params }: FastifyRequest<Route>, form: Form, done = '') =>
    providerPage(form, { ctx, provider: await getProvider(ctx, params.providerId), done })

  app.get(`/${SSO_SETTINGS}`, async (request, reply) => show(request, reply, await page(request, emptyForm, doneOf(request))))

  app.get(`/${SSO_SETTINGS}/new`, async (request, reply) => {
    await listProviders(request.ctx)
    return show(request, reply, newProviderPage(emptyForm, request.ctx))
  })
  app.post(`/${SSO_SETTINGS}/providers`, RECENT_AUTHENTICATION, (request, reply) =>
    submit(request, reply, {
      page: (form) => newProviderPage(form, request.ctx),
      work: async (values) => {
        const id = await addProvider(request.ctx, readProvider(values))
        return `${pathOf(request.ctx, `${SSO_SETTINGS}/providers/${id}`)}?done=saved`
      },
    }),
  )

  app.get<Route>(`/${SSO_SETTINGS}/providers/:providerId`, async (request, reply) =>
    show(request, reply, await onePage(request, emptyForm, doneOf(request))),
  )
  app.post<Route>(`/${SSO_SETTINGS}/providers/:providerId`, RECENT_AUTHENTICATION, (request, reply) =>
    submit(request, reply, {
      page: (form) => onePage(request, form),
      work: async (values) => {
        const done = await changeProvider(request.ctx, request.params.providerId, readProvider(values))
        return `${pathOf(request.ctx, `${SSO_SETTINGS}/providers/${request.params.providerId}`)}?done=${done}`
      },
    }),
  )
  app.post<Route>(`/${SSO_SETTINGS}/providers/:providerId/discard`, RECENT_AUTHENTICATION, async (request, reply) => {
    await discardDraft(request.ctx, request.params.providerId)
    return reply.redirect(`${pathOf(request.ctx, `${SSO_SETTINGS}/providers/${request.params.providerId}`)}?done=discarded`, 303)
  })
  app.post<Route>(`/${SSO_SETTINGS}/providers/:providerId/relink`, RECENT_AUTHENTICATION, async (request, reply) => {
    await allowRelinking(request.ctx, request.params.providerId)
    return reply.redirect(`${pathOf(request.ctx, `${SSO_SETTINGS}/providers/${request.params.providerId}`)}?done=relink`, 303)
  })
  app.post<Route>(`/${SSO_SETTINGS}/providers/:providerId/remove`, RECENT_AUTHENTICATION, async (request, reply) => {
    await removeProvider(request.ctx, request.params.providerId)
    return reply.redirect(`${pathOf(request.ctx, SSO_SETTINGS)}?done=removed`, 303)
  })

  enforcementRoutes(app, page)

  app.post(`/${SSO_SETTINGS}/domains`, RECENT_AUTHENTICATION, (request, reply) =>
    submit(request, reply, {
      page: (form) => page(request, form),
      work: async (values) => {
        await addDomain(request.ctx, readFields(values, 'domain').domain)
        return `${pathOf(request.ctx, SSO_SETTINGS)}?done=domain`
      },
    }),
  )
  app.post<DomainRoute>(`/${SSO_SETTINGS}/domains/:domainId/verify`, RECENT_AUTHENTICATION, (request, reply) =>
    submit(request, reply, {
      page: (form) => page(request, form),
      work: async () => {
        const isVerified = await verifyDomain(request.ctx, request.params.domainId)
        return `${pathOf(request.ctx, SSO_SETTINGS)}?done=${isVerified ? 'verified' : 'unverified'}`
      },
    }),
  )
  app.post<DomainRoute>(`/${SSO_SETTINGS}/domains/:domainId/remove`, RECENT_AUTHENTICATION, async (request, reply) => {
    await removeDomain(request.ctx, request.params.domainId)
    return reply.redirect(`${pathOf(request.ctx, SSO_SETTINGS)}?done=gone`, 303)
  })
}

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../../domain/errors.ts'
import { endAtProvider } from '../../../domain/single-sign-on/end-at-provider.ts'
import { findOfferedProviders, findProvidersForAddress } from '../../../domain/single-sign-on/find-providers.ts'
import { completeOidcFlow, type ProviderSignInProblem } from '../../../domain/single-sign-on/oidc-callback.ts'
import { callbackUrlOf, type OidcPurpose, startOidcFlow } from '../../../domain/single-sign-on/oidc-flow.ts'
import { findProviderSignOutUrl } from '../../../domain/single-sign-on/provider-sign-out.ts'
import { type FoundProvider, findProvider } from '../../../domain/single-sign-on/providers.ts'
import { PORTAL_PREFIX } from '../../../http/addresses/links.ts'
import { readFields, valuesOf } from '../kit/forms.ts'
import { homeOf, show } from '../kit/layout.ts'
import { queryOf } from '../kit/paging.ts'
import { browserOf } from './browser-of.ts'
import { setFlowCookie, takeFlowCookie } from './flow-cookie.ts'
import { continueSignIn } from './pending-second-step.ts'
import { requirementPage } from './requirement.page.ts'
import { safeNext, signInAddress, signInContext } from './session.ts'
import type { Portal } from './settings.ts'
import { continuePage, providerAddress, signedOutPage, signInRefusedPage, testResultPage } from './single-sign-on.page.ts'

type Route = { Params: { providerId: string } }

/** Redirects to an identity provider, and its callback. */
export function singleSignOnRoutes(app: FastifyInstance, portal: Portal): void {
  const { system } = portal

  app.post('/sign-in/sso', async (request, reply) => {
    const { email, next } = readFields(valuesOf(request), 'email', 'next')
    const providers = await findProvidersForAddress(system, email.trim())
    return show(request, reply, continuePage(providers, email.trim(), safeNext(next)))
  })

  app.get<{ Params: { organizationId: string } }>('/sign-in/organization/:organizationId', async (request, reply) => {
    const { signedIn, params, originalUrl } = request
    const next = safeNext(queryOf(request).get('next') ?? '')
    if (!signedIn) return reply.redirect(signInAddress(originalUrl), 303)
    const isMember = signedIn.memberships.some(({ organizationId }) => organizationId === params.organizationId)
    if (!isMember) throw new DomainError('not_permitted')
    const providers = await findOfferedProviders(system, params.organizationId)
    return show(request, reply, requirementPage('sso', { address: request.ip, providers, next }))
  })

  app.get<Route>('/sign-in/with/:providerId', async (request, reply) =>
    redirectToProvider(portal, request, reply, { kind: 'signIn' }, queryOf(request).get('next') ?? ''),
  )

  // Third-party-initiated login, OpenID Connect Core 1.0, section 4: starts our own flow. An unsolicited code is refused.
  app.get<Route>('/sign-in/with/:providerId/initiate', async (request, reply) => {
    const [issuer, target, hint] = ['iss', 'target_link_uri', 'login_hint'].map((name) => queryOf(request).get(name))
    const provider = await find(portal, request)
    if (issuer !== provider.issuer) return refuse(request, reply, provider, 'expiredSignIn')
    return redirectToProvider(portal, request, reply, { kind: 'signIn' }, target ?? '', hint)
  })

  // OpenID Connect Back-Channel Logout 1.0, sections 2.5 to 2.8: sent by a provider's server, authenticated by the token's signature.
  const fromElsewhere = { config: { isFromElsewhere: true }, bodyLimit: LOGOUT_BYTES }
  app.post<Route>('/sign-in/with/:providerId/logout', fromElsewhere, async (request, reply) => {
    const provider = await find(portal, request)
    const isDone = await endAtProvider(
      signInContext(system, request),
      provider,
      readFields(valuesOf(request), 'logout_token').logout_token,
    )
    reply.header('cache-control', 'no-store').code(isDone ? 200 : 400)
    return isDone ? reply.send() : reply.send({ error: 'invalid_request' })
  })

  app.get<Route>('/sign-in/with/:providerId/left', async (request, reply) => {
    const provider = await find(portal, request)
    return show(request, reply, signedOutPage(provider.name, await findProviderSignOutUrl(system, provider)))
  })

  app.get<Route>('/sign-in/with/:providerId/callback', async (request, reply) => {
    const provider = await find(portal, request)
    const query = queryOf(request)
    const flow = takeFlowCookie(portal, request, reply, { state: query.get('state') ?? '', providerId: provider.id })
    if (!flow) return refuse(request, reply, provider, 'expiredSignIn')
    const outcome = await completeOidcFlow(signInContext(system, request), provider, flow, {
      callbackUrl: `${callbackUrlOf(system, provider)}?${query}`,
      browser: browserOf(request),
      signedIn: request.signedIn,
      address: request.ip,
    })
    if (outcome.kind === 'refused') return refuse(request, reply, provider, outcome.problem)
    if (outcome.kind === 'again') {
      setFlowCookie(portal, reply, outcome.begun)
      return reply.redirect(outcome.begun.url, 303)
    }
    if (outcome.kind === 'tried') return show(request, reply, testResultPage(outcome.token, flow.next))
    const next =
      outcome.kind === 'in' ? await continueSignIn(portal, request, reply, { entry: outcome.entry, next: flow.next }) : flow.next
    return reply.redirect(next, 303)
  })
}

const LOGOUT_BYTES = 16 * 1024

/** Redirects to a provider. @param next page of the portal to go on to. */
export async function redirectToProvider(
  portal: Portal,
  request: FastifyRequest<Route>,
  reply: FastifyReply,
  purpose: OidcPurpose,
  next: string,
  loginHint?: string | null,
): Promise<FastifyReply> {
  const provider = await find(portal, request)
  const home = provider.organization ? homeOf(provider.organization) : PORTAL_PREFIX
  const target = next === '' || safeNext(next) === PORTAL_PREFIX ? home : safeNext(next)
  const begun = await startOidcFlow(portal.system, provider, { purpose, next: target, loginHint: loginHint ?? undefined })
  if ('problem' in begun) return refuse(request, reply, provider, begun.problem === 'newKeys' ? 'badToken' : begun.problem, 422)
  setFlowCookie(portal, reply, begun)
  return reply.redirect(begun.url, 303)
}

async function find({ system }: Portal, request: FastifyRequest<Route>): Promise<FoundProvider> {
  const provider = await findProvider(system, request.params.providerId)
  if (!provider) throw new DomainError('sign_in_setting_not_found')
  return provider
}

const refuse = (
  request: FastifyRequest,
  reply: FastifyReply,
  provider: FoundProvider,
  problem: ProviderSignInProblem,
  status = 403,
): Promise<FastifyReply> => {
  const { address, name, organization } = provider
  return show(
    request,
    reply,
    signInRefusedPage({
      problem,
      provider: name,
      organization: organization?.name ?? null,
      retryAddress: providerAddress(address),
    }),
    status,
  )
}

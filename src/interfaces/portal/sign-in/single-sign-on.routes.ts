import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../../domain/errors.ts'
import { endAtProvider } from '../../../domain/single-sign-on/end-at-provider.ts'
import { findEndThere } from '../../../domain/single-sign-on/find-end-there.ts'
import { findOffered, findOfferedFor } from '../../../domain/single-sign-on/find-providers.ts'
import { finishWay, type SignInProblem } from '../../../domain/single-sign-on/finish-way.ts'
import { type FoundProvider, findProvider } from '../../../domain/single-sign-on/providers.ts'
import { beginWay, callbackOf, type Purpose } from '../../../domain/single-sign-on/way.ts'
import { PORTAL_PREFIX } from '../../../http/addresses/links.ts'
import { readFields, valuesOf } from '../kit/forms.ts'
import { homeOf, show } from '../kit/layout.ts'
import { queryOf } from '../kit/paging.ts'
import { browserOf } from './browser-of.ts'
import { closedPage } from './closed.page.ts'
import { askedBy, safeNext, signInAddress } from './session.ts'
import type { Portal } from './settings.ts'
import { continuePage, leftPage, refusedPage, triedPage, wayAddress } from './single-sign-on.page.ts'
import { goOn } from './waiting.ts'
import { keepWay, takeWay } from './way-cookie.ts'

type Route = { Params: { providerId: string } }

/** Signing in by an identity provider: there, and back. */
export function singleSignOnRoutes(app: FastifyInstance, portal: Portal): void {
  const { system } = portal

  app.post('/sign-in/sso', async (request, reply) => {
    const { email, next } = readFields(valuesOf(request), 'email', 'next')
    const providers = await findOfferedFor(system, email.trim())
    return show(request, reply, continuePage(providers, email.trim(), safeNext(next)))
  })

  app.get<{ Params: { organizationId: string } }>('/sign-in/organization/:organizationId', async (request, reply) => {
    const { signedIn, params, originalUrl } = request
    const next = safeNext(queryOf(request).get('next') ?? '')
    if (!signedIn) return reply.redirect(signInAddress(originalUrl), 303)
    const isMember = signedIn.memberships.some(({ organizationId }) => organizationId === params.organizationId)
    if (!isMember) throw new DomainError('not_permitted')
    const providers = await findOffered(system, params.organizationId)
    return show(request, reply, closedPage('sso', { address: request.ip, providers, next }))
  })

  app.get<Route>('/sign-in/with/:providerId', async (request, reply) =>
    begin(portal, request, reply, { kind: 'signIn' }, queryOf(request).get('next') ?? ''),
  )

  // OpenID Connect Core, 4: from a provider's own list of applications. It begins our way; a code that nobody asked for is refused.
  app.get<Route>('/sign-in/with/:providerId/initiate', async (request, reply) => {
    const [issuer, target, hint] = ['iss', 'target_link_uri', 'login_hint'].map((name) => queryOf(request).get(name))
    const provider = await find(portal, request)
    if (issuer !== provider.issuer) return refuse(request, reply, provider, 'expiredSignIn')
    return begin(portal, request, reply, { kind: 'signIn' }, target ?? '', hint)
  })

  // Of a provider's server, which says who it is by signing what it sends: OpenID Connect Back-Channel Logout 1.0, 2.5 to 2.8.
  const fromElsewhere = { config: { isFromElsewhere: true }, bodyLimit: LOGOUT_BYTES }
  app.post<Route>('/sign-in/with/:providerId/logout', fromElsewhere, async (request, reply) => {
    const provider = await find(portal, request)
    const isDone = await endAtProvider(
      askedBy(system, request),
      provider,
      readFields(valuesOf(request), 'logout_token').logout_token,
    )
    reply.header('cache-control', 'no-store').code(isDone ? 200 : 400)
    return isDone ? reply.send() : reply.send({ error: 'invalid_request' })
  })

  app.get<Route>('/sign-in/with/:providerId/left', async (request, reply) => {
    const provider = await find(portal, request)
    return show(request, reply, leftPage(provider.name, await findEndThere(system, provider)))
  })

  app.get<Route>('/sign-in/with/:providerId/callback', async (request, reply) => {
    const provider = await find(portal, request)
    const query = queryOf(request)
    const way = takeWay(portal, request, reply, { state: query.get('state') ?? '', providerId: provider.id })
    if (!way) return refuse(request, reply, provider, 'expiredSignIn')
    const outcome = await finishWay(askedBy(system, request), provider, way, {
      callbackUrl: `${callbackOf(system, provider)}?${query}`,
      browser: browserOf(request),
      signedIn: request.signedIn,
      address: request.ip,
    })
    if (outcome.kind === 'refused') return refuse(request, reply, provider, outcome.problem)
    if (outcome.kind === 'again') {
      keepWay(portal, reply, outcome.begun)
      return reply.redirect(outcome.begun.url, 303)
    }
    if (outcome.kind === 'tried') return show(request, reply, triedPage(outcome.token, way.next))
    const next = outcome.kind === 'in' ? await goOn(portal, request, reply, { entry: outcome.entry, next: way.next }) : way.next
    return reply.redirect(next, 303)
  })
}

/** Bytes of what a provider's server sends. */
const LOGOUT_BYTES = 16 * 1024

/** Sends somebody to a provider. @param next where they go on to, of the portal's pages. */
export async function begin(
  portal: Portal,
  request: FastifyRequest<Route>,
  reply: FastifyReply,
  purpose: Purpose,
  next: string,
  loginHint?: string | null,
): Promise<FastifyReply> {
  const provider = await find(portal, request)
  const home = provider.organization ? homeOf(provider.organization) : PORTAL_PREFIX
  const target = next === '' || safeNext(next) === PORTAL_PREFIX ? home : safeNext(next)
  const begun = await beginWay(portal.system, provider, { purpose, next: target, loginHint: loginHint ?? undefined })
  if ('problem' in begun) return refuse(request, reply, provider, begun.problem === 'newKeys' ? 'badToken' : begun.problem, 422)
  keepWay(portal, reply, begun)
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
  problem: SignInProblem,
  status = 403,
): Promise<FastifyReply> => {
  const { address, name, organization } = provider
  return show(
    request,
    reply,
    refusedPage({ problem, provider: name, organization: organization?.name ?? null, again: wayAddress(address) }),
    status,
  )
}

import cookie from '@fastify/cookie'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { may } from '../../../domain/authorization/permissions.ts'
import type { Context, ServiceContext } from '../../../domain/context.ts'
import { DomainError } from '../../../domain/errors.ts'
import { listAssessmentChoices } from '../../../domain/invites/form-options.ts'
import { endSession } from '../../../domain/sign-in/end-sessions.ts'
import { hasFactor } from '../../../domain/sign-in/has-factor.ts'
import { recordRefusal } from '../../../domain/sign-in/record-refusal.ts'
import type { SessionAccess } from '../../../domain/sign-in/session-access.ts'
import {
  contextOf,
  findSession,
  findSessionAccess,
  type NewSession,
  type SignedIn,
  toMemberContext,
} from '../../../domain/sign-in/sessions.ts'
import { findOfferedProviders } from '../../../domain/single-sign-on/find-providers.ts'
import { PORTAL_PREFIX, showsTestData } from '../../../http/addresses/links.ts'
import { sessionCookie } from '../../../http/addresses/preview.ts'
import { auditOriginOf } from '../../../http/requests/audit-origin.ts'
import { disconnectSignal } from '../../../http/requests/disconnect-signal.ts'
import { suspendedPage } from '../erasure/suspended.page.ts'
import { type Page, show } from '../kit/layout.ts'
import { deviceCookie } from './browser-of.ts'
import { factorsAddress } from './factors.page.ts'
import { requirementPage, type UnmetRequirement } from './requirement.page.ts'
import { secondStepAddress } from './second-step.page.ts'
import { turnAway, type UnsentForm } from './turn-away.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The signed-in person, or null. Only in the portal. */
    signedIn: SignedIn | null
  }
  interface FastifyContextConfig {
    /** True for requests that pages send automatically. They don't extend the session. */
    isUnattended?: boolean
    /** True for routes that owners can use while their organization is suspended before its erasure. */
    duringSuspension?: boolean
  }
}

/** Lifetime of the device cookie: the longest that browsers allow. */
const DEVICE_SECONDS = 400 * 86_400

export type SessionCookie = {
  /** Sets the cookie that recognizes the browser, see domain/sign-in/devices.ts. */
  remember: (reply: FastifyReply, device: string) => void
  /** Sets a new session, and ends the browser's earlier one. */
  begin: (request: FastifyRequest, reply: FastifyReply, session: NewSession) => Promise<void>
  end: (request: FastifyRequest, reply: FastifyReply) => Promise<void>
}

/**
 * Authenticates each request of the scope.
 *
 * @param isSecure true if browsers reach the service by HTTPS: only then can the cookie have the `__Host-` prefix, which other hosts and
 *   unencrypted pages can't set.
 */
export async function useSessions(app: FastifyInstance, system: ServiceContext, isSecure: boolean): Promise<SessionCookie> {
  await app.register(cookie)
  const name = sessionCookie(isSecure)
  const options = { path: '/', httpOnly: true, sameSite: 'lax', secure: isSecure } as const
  const tokenOf = ({ cookies }: FastifyRequest) => cookies[name]
  app.decorateRequest('signedIn', null)
  app.decorateRequest('sessionToken', undefined)
  app.addHook('onRequest', async (request) => {
    const token = tokenOf(request)
    request.sessionToken = token
    const isUse = !request.routeOptions.config.isUnattended
    request.signedIn = token ? await findSession(system, token, { isUse }) : null
  })
  const forget = async (request: FastifyRequest, reason: 'signed_out' | 'signed_in_again') => {
    const token = tokenOf(request)
    if (token) await endSession(system, token, reason)
  }
  const remember = (reply: FastifyReply, device: string) =>
    void reply.setCookie(deviceCookie(isSecure), device, { ...options, maxAge: DEVICE_SECONDS })
  return {
    remember,
    async begin(request, reply, { token, expiresAt, device }) {
      await forget(request, 'signed_in_again')
      reply.setCookie(name, token, { ...options, expires: expiresAt })
      remember(reply, device)
    },
    async end(request, reply) {
      await forget(request, 'signed_out')
      reply.clearCookie(name, options)
    },
  }
}

/**
 * Limits the scope, whose prefix ends in `:organizationId`, to the organization's members whose session meets its requirements. The only
 * such check; it runs before the body is read. Others are led to what is missing.
 */
export function requireMember(app: FastifyInstance, system: ServiceContext): void {
  app.addHook<{ Params: { organizationId: string } }>('onRequest', async (request, reply) => {
    const { signedIn, ip, originalUrl, method } = request
    if (!signedIn) return turnAway(system, request, reply, signInAddress)
    const { organizationId } = request.params
    const access = { at: system.deps.clock(), address: ip }
    const opening = findSessionAccess(signedIn, organizationId, access)
    if (opening === null) throw new DomainError('not_permitted')
    const wayOn = opening === 'open' ? null : await findRequirementAddress(system, { method, signedIn, organizationId, opening })
    if (wayOn) return turnAway(system, request, reply, wayOn)
    const origin = auditOriginOf(request, signedIn.sessionId)
    if (opening === 'network' || opening === 'sso')
      return show(request, reply, await showRequirement({ ...system, origin }, request, organizationId, opening), 403)
    const mode = showsTestData(originalUrl) ? 'test' : 'live'
    const ctx = contextOf(system, signedIn, { organizationId, mode, ...access, duringSuspension: true })
    const suspendedPage = await findSuspendedPage(ctx, request)
    if (suspendedPage) return show(request, reply, suspendedPage, 403)
    request.ctx = { ...ctx, origin, signal: disconnectSignal(reply) }
  })
}

/** Page shown while the organization is suspended; null for routes that stay open to its owners. */
async function findSuspendedPage(ctx: Context, { signedIn, routeOptions }: FastifyRequest): Promise<Page | null> {
  const membership = signedIn?.memberships.find(({ organizationId }) => organizationId === ctx.organization.id)
  const suspension = membership?.organization.suspension
  if (!suspension) return null
  const isOwner = may(ctx, 'erase_organization')
  if (isOwner && routeOptions.config.duringSuspension) return null
  return suspendedPage({ ctx, suspension, assessments: isOwner ? await listAssessmentChoices(ctx, {}) : null })
}

/** Records an attempt from a network that the organization does not allow. */
function recordNetworkAttempt(system: ServiceContext, { memberships }: SignedIn, organizationId: string): void {
  const membership = memberships.find(({ organization }) => organization.id === organizationId)
  if (membership) void recordRefusal(toMemberContext(system, membership), 'network')
}

type RefusedAccess = { method: string; signedIn: SignedIn; organizationId: string; opening: Exclude<SessionAccess, 'open'> }

/** Leads to the page that asks for the missing requirement; null if it is shown in place of the requested page. */
async function findRequirementAddress(
  system: ServiceContext,
  refusedAccess: RefusedAccess,
): Promise<UnsentForm['leadTo'] | null> {
  const { opening, method, signedIn, organizationId } = refusedAccess
  if (opening === 'network' || (opening === 'sso' && (method === 'GET' || method === 'HEAD'))) return null
  if (opening === 'sso') return (next) => organizationSignInAddress(organizationId, next)
  return opening === 'factor' ? findFactorAddress(system, signedIn) : signInAddress
}

/** Page of an organization that stays closed. */
async function showRequirement(
  system: ServiceContext,
  { method, originalUrl, ip, signedIn }: FastifyRequest,
  organizationId: string,
  missing: UnmetRequirement,
) {
  if (missing === 'network' && signedIn) recordNetworkAttempt(system, signedIn, organizationId)
  const providers = missing === 'sso' ? await findOfferedProviders(system, organizationId) : []
  return requirementPage(missing, { address: ip, providers, next: method === 'GET' ? originalUrl : '' })
}

/** Page that asks for the second factor, or adds one. */
async function findFactorAddress(system: ServiceContext, { credential }: SignedIn): Promise<UnsentForm['leadTo']> {
  const address = (await hasFactor(system, credential.id)) ? secondStepAddress : factorsAddress
  return (next) => address(next || PORTAL_PREFIX)
}

/** Sign-in page of one organization. @param next as {@link signInAddress}. */
export const organizationSignInAddress = (organizationId: string, next: string): string =>
  `${PORTAL_PREFIX}/sign-in/organization/${organizationId}${next && `?${new URLSearchParams({ next })}`}`

/** @param next the address to go on to; empty if none. */
export const signInAddress = (next: string): string => `${PORTAL_PREFIX}/sign-in${next && `?${new URLSearchParams({ next })}`}`

/** Page that replaces a password from the list of common passwords. */
export const changePasswordAddress = ({ mustChange }: { mustChange: string }): string =>
  `${new URL(mustChange).pathname}?why=listed`

/** The address to go on to after signing in; any address outside of the portal becomes its root. */
export function safeNext(next: string): string {
  const url = URL.parse(next, 'http://portal')
  const isOurs =
    url?.origin === 'http://portal' && (url.pathname === PORTAL_PREFIX || url.pathname.startsWith(`${PORTAL_PREFIX}/`))
  return isOurs ? url.pathname + url.search : PORTAL_PREFIX
}

/** Context of a request before sign-in, with its origin for the audit log. */
export const signInContext = (system: ServiceContext, request: FastifyRequest): ServiceContext => ({
  ...system,
  origin: auditOriginOf(request),
})

/** @throws Error if nobody is signed in; use it only in scopes that require it. */
export function signedInOf({ signedIn }: FastifyRequest): SignedIn {
  if (!signedIn) throw new Error('This page requires a session')
  return signedIn
}

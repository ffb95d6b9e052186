import cookie from '@fastify/cookie'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { may } from '../../../domain/authorization/permissions.ts'
import type { Context, ServiceContext } from '../../../domain/context.ts'
import { DomainError } from '../../../domain/errors.ts'
import { listAssessmentChoices } from '../../../domain/invites/form-options.ts'
import { endSession } from '../../../domain/sign-in/end-sessions.ts'
import { hasFactor } from '../../../domain/sign-in/has-factor.ts'
import type { Opening } from '../../../domain/sign-in/openings.ts'
import { recordRefusal } from '../../../domain/sign-in/record-refusal.ts'
import {
  asMember,
  contextOf,
  findOpening,
  findSession,
  type NewSession,
  type SignedIn,
} from '../../../domain/sign-in/sessions.ts'
import { findOffered } from '../../../domain/single-sign-on/find-providers.ts'
import { PORTAL_PREFIX, showsTestData } from '../../../http/addresses/links.ts'
import { sessionCookie } from '../../../http/addresses/preview.ts'
import { onGone } from '../../../http/requests/on-gone.ts'
import { originOf } from '../../../http/requests/origin.ts'
import { heldPage } from '../erasure/held.page.ts'
import { type Page, show } from '../kit/layout.ts'
import { deviceCookie } from './browser-of.ts'
import { type Closed, closedPage } from './closed.page.ts'
import { factorsAddress } from './factors.page.ts'
import { secondStepAddress } from './second-step.page.ts'
import { type Parking, turnAway } from './turn-away.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is signed in; null when nobody is. Only in the portal. */
    signedIn: SignedIn | null
  }
  interface FastifyContextConfig {
    /** What a page asks by itself, whether or not anybody is there: it does not keep the session from ending. */
    isUnattended?: boolean
    /** What owners can do while their organization is suspended, because it is to be erased. */
    duringSuspension?: boolean
  }
}

/** As long as browsers keep a cookie. */
const DEVICE_SECONDS = 400 * 86_400

/** The session's cookie, as the scope keeps it. */
export type SessionCookie = {
  /** Has the browser be known again, see domain/sign-in/devices.ts. */
  remember: (reply: FastifyReply, device: string) => void
  /** Puts a new session into the browser, and ends the one that it had. */
  begin: (request: FastifyRequest, reply: FastifyReply, session: NewSession) => Promise<void>
  /** Signs the browser out. */
  end: (request: FastifyRequest, reply: FastifyReply) => Promise<void>
}

/**
 * Finds out for each request of the scope who is signed in.
 *
 * @param isSecure whether browsers reach the service by HTTPS: only then they take the name that no other host, and no page without
 *   encryption, can set.
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
 * Makes the scope, whose prefix ends in `:organizationId`, one for that organization's members, whose session opens it: the one place that
 * asks, before anything of the request is read. Others are asked for what is missing.
 */
export function requireMember(app: FastifyInstance, system: ServiceContext): void {
  app.addHook<{ Params: { organizationId: string } }>('onRequest', async (request, reply) => {
    const { signedIn, ip, originalUrl, method } = request
    if (!signedIn) return turnAway(system, request, reply, signInAddress)
    const { organizationId } = request.params
    const asked = { at: system.deps.clock(), address: ip }
    const opening = findOpening(signedIn, organizationId, asked)
    if (opening === null) throw new DomainError('not_permitted')
    const wayOn = opening === 'open' ? null : await findWayOn(system, { method, signedIn, organizationId, opening })
    if (wayOn) return turnAway(system, request, reply, wayOn)
    const origin = originOf(request, signedIn.sessionId)
    if (opening === 'network' || opening === 'sso')
      return show(request, reply, await closed({ ...system, origin }, request, organizationId, opening), 403)
    const mode = showsTestData(originalUrl) ? 'test' : 'live'
    const ctx = contextOf(system, signedIn, { organizationId, mode, ...asked, duringSuspension: true })
    const held = await findHeldPage(ctx, request)
    if (held) return show(request, reply, held, 403)
    request.ctx = { ...ctx, origin, onGone: onGone(reply) }
  })
}

/** Of a suspended organization: what stands in the page's stead; null of what its owners can do all the same. */
async function findHeldPage(ctx: Context, { signedIn, routeOptions }: FastifyRequest): Promise<Page | null> {
  const erasesAt = signedIn?.memberships.find(({ organizationId }) => organizationId === ctx.organization.id)?.organization
    .suspension?.erasesAt
  if (!erasesAt) return null
  const isOwner = may(ctx, 'erase_organization')
  if (isOwner && routeOptions.config.duringSuspension) return null
  return heldPage({ ctx, erasesAt, assessments: isOwner ? await listAssessmentChoices(ctx, {}) : null })
}

/** Has it recorded that somebody came from another network than the organization can be opened from. */
function noteNetwork(asked: ServiceContext, { memberships }: SignedIn, organizationId: string): void {
  const membership = memberships.find(({ organization }) => organization.id === organizationId)
  if (membership) void recordRefusal(asMember(asked, membership), 'network')
}

type Turned = { method: string; signedIn: SignedIn; organizationId: string; opening: Exclude<Opening, 'open'> }

/** Where what is missing is asked for; null: it is said in the page's stead. */
async function findWayOn(system: ServiceContext, asked: Turned): Promise<Parking['leadTo'] | null> {
  const { opening, method, signedIn, organizationId } = asked
  if (opening === 'network' || (opening === 'sso' && (method === 'GET' || method === 'HEAD'))) return null
  if (opening === 'sso') return (next) => organizationSignInAddress(organizationId, next)
  return opening === 'factor' ? findFactorAddress(system, signedIn) : signInAddress
}

/** What is shown of an organization that stays closed. */
async function closed(
  system: ServiceContext,
  { method, originalUrl, ip, signedIn }: FastifyRequest,
  organizationId: string,
  missing: Closed,
) {
  if (missing === 'network' && signedIn) noteNetwork(system, signedIn, organizationId)
  const providers = missing === 'sso' ? await findOffered(system, organizationId) : []
  return closedPage(missing, { address: ip, providers, next: method === 'GET' ? originalUrl : '' })
}

/** Where somebody who is signed in shows their second factor, or adds one. */
async function findFactorAddress(system: ServiceContext, { credential }: SignedIn): Promise<Parking['leadTo']> {
  const address = (await hasFactor(system, credential.id)) ? secondStepAddress : factorsAddress
  return (next) => address(next || PORTAL_PREFIX)
}

/** Where an organization's own way in is shown. @param next as {@link signInAddress}. */
export const organizationSignInAddress = (organizationId: string, next: string): string =>
  `${PORTAL_PREFIX}/sign-in/organization/${organizationId}${next && `?${new URLSearchParams({ next })}`}`

/** Where to sign in. @param next the address to go on to; empty: none. */
export const signInAddress = (next: string): string => `${PORTAL_PREFIX}/sign-in${next && `?${new URLSearchParams({ next })}`}`

/** Where a password that is tried first is replaced. */
export const changeAddress = ({ mustChange }: { mustChange: string }): string => `${new URL(mustChange).pathname}?why=listed`

/** The address to go on to after signing in: one of the portal's pages, whatever was given. */
export function safeNext(next: string): string {
  const url = URL.parse(next, 'http://portal')
  const isOurs =
    url?.origin === 'http://portal' && (url.pathname === PORTAL_PREFIX || url.pathname.startsWith(`${PORTAL_PREFIX}/`))
  return isOurs ? url.pathname + url.search : PORTAL_PREFIX
}

/** What somebody does who is not signed in yet: the audit log keeps from where. */
export const askedBy = (system: ServiceContext, request: FastifyRequest): ServiceContext => ({
  ...system,
  origin: originOf(request),
})

/** Whoever is signed in, in a scope that lets in nobody else. */
export function signedInOf({ signedIn }: FastifyRequest): SignedIn {
  if (!signedIn) throw new Error('This page is for those who are signed in')
  return signedIn
}

import { isAllowedFrom } from '../networks/ip-networks.ts'
import { DAY_MS, HOUR_MS } from '../time/days.ts'

export const AUTHENTICATION_KINDS = ['password', 'totp', 'passkey', 'recovery', 'device', 'oidc'] as const
export type AuthenticationKind = (typeof AUTHENTICATION_KINDS)[number]

/**
 * Identity provider of an `oidc` authentication.
 *
 * @property organizationId null for a provider that the operator offers to all organizations.
 * @property secondFactor whether signing in there counts as two factors: never (`ours`), always, or if the token names one of
 * `acrValues`.
 */
export type AuthenticationProvider = {
  id: string
  organizationId: string | null
  secondFactor: 'ours' | 'trusted' | 'acr'
  acrValues: readonly string[]
}

/**
 * One authentication of a session.
 *
 * @property at of a `device`: when the second factor was given that the device remembers.
 * @property authTime of `oidc`: when the person signed in at the provider, if the token says.
 */
export type Authentication = {
  kind: AuthenticationKind
  at: Date
  provider?: AuthenticationProvider | null
  acr?: string | null
  authTime?: Date | null
}

/** An open session. @property closedOrganizationIds organizations that it no longer opens. */
export type SessionState = {
  createdAt: Date
  lastSeenAt: Date
  closedOrganizationIds: readonly string[]
  proofs: readonly Authentication[]
}

/** @property signInException of who signs in with factors of their own although the organization has an identity provider: `guest` or `break_glass`. */
export type MembershipState = {
  organizationId: string
  status: 'active' | 'inactive'
  activeSince: Date | null
  signInException?: string | null
}

/** An organization's sign-in policy; null: none. */
export type SignInPolicy = {
  ssoEnforcedAt: Date | null
  secondFactorFrom: Date | null
  trustedDeviceDays: number
  idleMinutes: number
  sessionHours: number
  ssoSessionHours: number
  networks: readonly string[]
} | null

/** Time and network address of a request. */
export type AccessRequest = { at: Date; address: string }

/** `open`, or the first unmet requirement of the organization. `signIn`: the session has no access to the organization any more. */
export type SessionAccess = 'open' | 'network' | 'sso' | 'proof' | 'factor' | 'idle' | 'age' | 'signIn'

const MINUTE_MS = 60_000

/** Decides whether a session may use an organization, for pages, forms, media, and scripts alike. */
export function decideSessionAccess(
  session: SessionState,
  membership: MembershipState,
  rules: SignInPolicy,
  request: AccessRequest,
): SessionAccess {
  const { proofs } = session
  const { organizationId } = membership
  if (rules && !isAllowedFrom(rules.networks, request.address)) return 'network'
  if (rules?.ssoEnforcedAt) {
    const missing = hasRecentSingleSignOn(proofs, organizationId, rules, request)
      ? null
      : findFactorMissingForException(proofs, membership)
    if (missing) return missing
  } else if (!proofs.some((proof) => identifiesEverywhere(proof) || isByProviderOf(proof, organizationId))) return 'proof'
  if (rules?.secondFactorFrom && rules.secondFactorFrom <= request.at && !hasSecondFactor(proofs, organizationId, rules, request))
    return 'factor'
  if (rules && isIdle(session, rules, request)) return 'idle'
  if (rules && isOld(session, rules, request)) return 'age'
  return isBlocked(session, membership) ? 'signIn' : 'open'
}

/** True if the session began before the membership was activated again: deactivation ends sessions for good. */
export const isBlocked = (
  { createdAt, closedOrganizationIds }: Pick<SessionState, 'createdAt' | 'closedOrganizationIds'>,
  { organizationId, status, activeSince }: MembershipState,
): boolean =>
  status !== 'active' || closedOrganizationIds.includes(organizationId) || (activeSince !== null && activeSince >= createdAt)

const isOld = (
  { createdAt }: Pick<SessionState, 'createdAt'>,
  { sessionHours }: { sessionHours: number },
  { at }: Pick<AccessRequest, 'at'>,
): boolean => at.getTime() - createdAt.getTime() >= sessionHours * HOUR_MS

/** True if no further authentication can open the organization to this session: the person needs a new session. */
export const isSessionOver = (
  session: SessionState,
  membership: MembershipState,
  rules: SignInPolicy,
  request: Pick<AccessRequest, 'at'>,
): boolean =>
  isBlocked(session, membership) || (rules !== null && (isIdle(session, rules, request) || isOld(session, rules, request)))

/** True if the session was unused for the organization's idle limit. */
export const isIdle = (
  { lastSeenAt }: Pick<SessionState, 'lastSeenAt'>,
  { idleMinutes }: { idleMinutes: number },
  { at }: Pick<AccessRequest, 'at'>,
): boolean => at.getTime() - lastSeenAt.getTime() >= idleMinutes * MINUTE_MS

/** True for an authentication that identifies the person in every organization. A second factor alone doesn't. */
export const identifiesEverywhere = ({ kind, provider }: Authentication): boolean =>
  kind === 'password' || kind === 'passkey' || (kind === 'oidc' && provider?.organizationId === null)

/** An identity provider speaks for its own organization only. */
const isByProviderOf = ({ kind, provider }: Authentication, organizationId: string): boolean =>
  kind === 'oidc' && provider?.organizationId === organizationId

const isWithin = (at: Date, { at: now }: AccessRequest, ms: number): boolean => now.getTime() - at.getTime() < ms

const hasRecentSingleSignOn = (
  proofs: readonly Authentication[],
  organizationId: string,
  { ssoSessionHours }: NonNullable<SignInPolicy>,
  request: AccessRequest,
): boolean =>
  proofs.some((proof) => isByProviderOf(proof, organizationId) && isWithin(proof.at, request, ssoSessionHours * HOUR_MS))

/** A passkey, or a password and a code: a browser that is remembered is no code. */
export function hasTwoOwnFactors(proofs: readonly { kind: string }[]): boolean {
  const hasKind = (...kinds: AuthenticationKind[]) => proofs.some(({ kind }) => kinds.some((wanted) => wanted === kind))
  return hasKind('passkey') || (hasKind('password') && hasKind('totp', 'recovery'))
}

/** Missing authentication of a member with a sign-in exception; `sso` for members without one. */
function findFactorMissingForException(
  proofs: readonly Authentication[],
  { signInException }: MembershipState,
): 'sso' | 'factor' | null {
  if (signInException !== 'guest' && signInException !== 'break_glass') return 'sso'
  if (hasTwoOwnFactors(proofs)) return null
  return proofs.some(({ kind }) => kind === 'password') ? 'factor' : 'sso'
}

const hasSecondFactor = (
  proofs: readonly Authentication[],
  organizationId: string,
  { trustedDeviceDays }: NonNullable<SignInPolicy>,
  request: AccessRequest,
): boolean =>
  proofs.some((proof) => {
    const { kind, at, provider, acr } = proof
    if (kind === 'totp' || kind === 'passkey' || kind === 'recovery') return true
    if (kind === 'device') return isWithin(at, request, trustedDeviceDays * DAY_MS)
    const countsHere = provider?.organizationId === null || isByProviderOf(proof, organizationId)
    if (!provider || !countsHere) return false
    return provider.secondFactor === 'trusted' || (provider.secondFactor === 'acr' && provider.acrValues.includes(acr ?? ''))
  })

import { recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import { enterOrganization, type ServiceContext } from '../context.ts'
import { notifyOfSecurityChange } from '../organization/organization-security.ts'
import type { IdpProblem, IdToken } from '../ports/identity-provider.ts'
import type { PendingJoin } from '../sign-in/account-links.ts'
import { renewSession } from '../sign-in/add-authentication.ts'
import type { ProviderAuthentication } from '../sign-in/authentication-rows.ts'
import { completeJoin } from '../sign-in/complete-join.ts'
import { lockOwnCredential } from '../sign-in/credential-lock.ts'
import { hasFactor } from '../sign-in/has-factor.ts'
import { identifiesEverywhere, isSessionOver } from '../sign-in/session-access.ts'
import {
  type Browser,
  contextOf,
  findMemberships,
  recordInAllOrganizations,
  type SignedIn,
  startSession,
} from '../sign-in/sessions.ts'
import { findDeviceTrust, type SignInOutcome } from '../sign-in/sign-in.ts'
import { claimToken } from '../sign-in/used-tokens.ts'
import { inTransaction } from '../transaction.ts'
import type { IdentificationProblem } from './identification.ts'
import { identifyPerson } from './identify-person.ts'
import { findIdentity, linkIdentity, mayChangeAccount } from './identities.ts'
import { type OidcFlow, type StartedOidcFlow, startOidcFlow, toAuthorizationRequest } from './oidc-flow.ts'
import { withDraft } from './provider-secrets.ts'
import { type FoundProvider, hashOfSettings, lockProvider, startRelinking, toIdpClient } from './providers.ts'
import { recordProviderError } from './record-provider-error.ts'

/** Reason for rejecting a sign-in by a provider. */
export type ProviderSignInProblem =
  | IdentificationProblem
  | Exclude<IdpProblem, 'newKeys'>
  /** The provider identified another person than the signed-in one. */
  | 'otherPerson'

/** Outcome of a callback. @property code detail for the provider's administrator. */
export type CallbackOutcome =
  | { kind: 'in'; entry: SignInOutcome }
  | { kind: 'linked' }
  | { kind: 'tried'; token: IdToken }
  | { kind: 'again'; begun: StartedOidcFlow }
  | { kind: 'refused'; problem: ProviderSignInProblem; code?: string }

type OidcCallback = { callbackUrl: string; browser: Browser; signedIn: SignedIn | null; address: string }

/** Completes a sign-in when the person returns from the provider. */
export async function completeOidcFlow(
  service: ServiceContext,
  found: FoundProvider,
  flow: OidcFlow,
  callback: OidcCallback,
): Promise<CallbackOutcome> {
  const provider = flow.purpose.kind === 'try' ? withDraft(service, found) : found
  const client = toIdpClient(service, provider)
  if (!client) return recordRefusedSignIn(service, provider, { problem: 'badToken', code: 'secret_unreadable' })
  if (!(await claimToken(service, `oidc state ${flow.state}`, new Date(flow.endsAt))))
    return { kind: 'refused', problem: 'expiredSignIn' }
  const answer = await service.deps.identityProviders.redeem(
    client,
    toAuthorizationRequest(service, provider, flow),
    callback.callbackUrl,
  )
  if ('problem' in answer) {
    // The code is used up. Clearing the cached keys makes the second attempt load the new ones.
    const retry =
      answer.problem === 'newKeys' && !flow.isAgain ? await startOidcFlow(service, provider, { ...flow, isAgain: true }) : null
    if (retry && 'url' in retry) return { kind: 'again', begun: retry }
    const problem = answer.problem === 'newKeys' ? 'badToken' : answer.problem
    return recordRefusedSignIn(service, provider, { problem, code: answer.code })
  }
  const { token } = answer
  const missing = findClaimMismatch(provider, token)
  if (missing) return recordRefusedSignIn(service, provider, { problem: 'claimMissing', code: missing }, token)
  if (flow.purpose.kind === 'try') return recordTrial(service, provider, token, { ...callback, memberId: flow.purpose.memberId })
  if (flow.purpose.kind === 'link')
    return linkSignedIn(service, provider, token, { ...callback, credentialId: flow.purpose.credentialId })
  return signIn(service, provider, { token, flow, callback })
}

/** First required claim that is missing or has another value. */
function findClaimMismatch({ requiredClaims }: FoundProvider, { claims }: IdToken): string | undefined {
  const required = Object.entries(requiredClaims as Record<string, string>)
  return required.find(([name, value]) => ![claims[name]].flat().map(String).includes(value))?.[0]
}

async function signIn(
  service: ServiceContext,
  provider: FoundProvider,
  { token, flow, callback }: { token: IdToken; flow: OidcFlow; callback: OidcCallback },
): Promise<CallbackOutcome> {
  const outcome = await inTransaction(service, async (inside): Promise<CallbackOutcome> => {
    if (!(await lockProvider(inside, provider))) return { kind: 'refused', problem: 'expiredSignIn' }
    if (flow.purpose.kind === 'fresh' && !(await isSamePerson(inside, provider, token, { ...callback, ...flow.purpose })))
      return { kind: 'refused', problem: 'otherPerson' }
    const recognized = await identifyPerson(inside, provider, token, flow.purpose)
    if ('problem' in recognized) return { kind: 'refused', ...recognized }
    const entry = await authenticateByProvider(inside, provider, token, { ...recognized, callback })
    return entry ? { kind: 'in', entry } : { kind: 'refused', problem: 'expiredSignIn' }
  })
  return outcome.kind === 'refused' ? recordRefusedSignIn(service, provider, outcome, token) : outcome
}

/** True if the token belongs to the signed-in person. Re-authentication links nobody and creates no member. */
const isSamePerson = async (
  inside: ServiceContext,
  provider: FoundProvider,
  token: IdToken,
  { signedIn, credentialId }: Pick<OidcCallback, 'signedIn'> & { credentialId: string },
): Promise<boolean> =>
  signedIn?.credential.id === credentialId && (await findIdentity(inside, provider, token))?.credentialId === credentialId

/**
 * Adds the authentication to the person's session, or starts one. An operator's provider replaces the password only: the second factor is
 * still required, unless the browser is trusted.
 */
async function authenticateByProvider(
  inside: ServiceContext,
  provider: FoundProvider,
  { sid, amr, acr, authTime }: IdToken,
  { credentialId, join, callback }: { credentialId: string; join?: PendingJoin; callback: OidcCallback },
): Promise<SignInOutcome | null> {
  const { signedIn, browser } = callback
  const proof: ProviderAuthentication = { kind: 'oidc', providerId: provider.id, idpSid: sid, amr, acr, authTime }
  const credential = await inside.db.credential.findUniqueOrThrow({ where: { id: credentialId } })
  const findMembershipsOfProvider = async () =>
    (await findMemberships(inside, credentialId)).filter(({ organizationId }) =>
      [null, organizationId].includes(provider.organizationId),
    )
  const membershipsOfProvider = await findMembershipsOfProvider()
  const now = inside.deps.clock()
  const isSame = signedIn?.credential.id === credentialId && signedIn.credential.authVersion === credential.authVersion
  const goesOn =
    isSame &&
    !membershipsOfProvider.some((membership) =>
      isSessionOver(signedIn.session, membership, membership.organization.security, { at: now }),
    )
  // A session that rests on the word of an organization's provider alone has not asked for it.
  const hasOwn = goesOn && signedIn.session.proofs.some(identifiesEverywhere)
  const asksFactor = provider.organizationId === null && !hasOwn && (await hasFactor(inside, credentialId))
  const remembered = asksFactor ? await findDeviceTrust(inside, credential, browser) : undefined
  if (remembered === null) return { waiting: { ...credential, mustChange: false, word: proof, ...(join && { join }) } }
  if (join && !(await completeJoin(inside, credentialId, join))) return null
  const session = goesOn
    ? await renewSession(inside, signedIn.sessionId, { proof, credential, browser })
    : await startSession(inside, credential, browser, [proof], remembered)
  if (!session) return null
  await recordInAllOrganizations(inside, await findMembershipsOfProvider(), {
    action: 'signed_in',
    details: { proofs: ['oidc'], provider: provider.name },
  })
  return { session }
}

/** Links the signed-in person to the identity of the token. */
async function linkSignedIn(
  service: ServiceContext,
  provider: FoundProvider,
  token: IdToken,
  { signedIn, credentialId }: OidcCallback & { credentialId: string },
): Promise<CallbackOutcome> {
  if (signedIn?.credential.id !== credentialId || !(await mayChangeAccount(service, signedIn)))
    return { kind: 'refused', problem: 'expiredSignIn' }
  const openMembershipIds = signedIn.memberships.map(({ id }) => id)
  return inTransaction(service, async (inside): Promise<CallbackOutcome> => {
    const locked = (await lockProvider(inside, provider)) ? await lockOwnCredential(inside, signedIn) : null
    if (!locked) return { kind: 'refused', problem: 'expiredSignIn' }
    if (!locked.emailVerifiedAt) return { kind: 'refused', problem: 'unproven' }
    const members = (await findMemberships(inside, credentialId)).filter(
      ({ id, organizationId }) => openMembershipIds.includes(id) && [null, organizationId].includes(provider.organizationId),
    )
    if (members.length === 0) return { kind: 'refused', problem: 'notInvited' }
    if (await linkIdentity(inside, provider, token, { credentialId, members, linkedBy: 'self' })) return { kind: 'linked' }
    const isOwn = (await findIdentity(inside, provider, token))?.credentialId === credentialId
    return isOwn ? { kind: 'linked' } : { kind: 'refused', problem: 'linkedElsewhere' }
  })
}

/** Records a successful trial sign-in, and applies settings that waited for it. Signs nobody in. */
async function recordTrial(
  service: ServiceContext,
  provider: FoundProvider,
  token: IdToken,
  { signedIn, memberId, address }: OidcCallback & { memberId: string },
): Promise<CallbackOutcome> {
  const organizationId = provider.organizationId
  const membership = signedIn?.memberships.find(({ id }) => id === memberId)
  if (!signedIn || !membership || membership.organizationId !== organizationId)
    return { kind: 'refused', problem: 'expiredSignIn' }
  const ctx = contextOf(service, signedIn, { organizationId, mode: 'live', at: service.deps.clock(), address })
  authorize(ctx, 'manage_security')
  const isKept = await inTransaction(ctx, async (inside) => {
    const tested = {
      testedAt: inside.deps.clock(),
      testedById: memberId,
      testedSession: signedIn.sessionId,
      testedSettingsHash: hashOfSettings(inside, provider),
    }
    const data = { ...tested, sendsAuthTime: token.authTime !== null, lastError: null, lastErrorAt: null }
    const { id, encryptedDraft, issuer, clientId, clientAuth, encryptedClientSecret, secretExpiresAt, secondFactor, acrValues } =
      provider
    const requiredClaims = provider.requiredClaims as Record<string, string>
    const inUse = encryptedDraft
      ? {
          ...{ issuer, clientId, clientAuth, encryptedClientSecret: new Uint8Array(encryptedClientSecret), secretExpiresAt },
          ...{ requiredClaims, secondFactor, acrValues, encryptedDraft: null },
        }
      : {}
    const same = {
      organizationId: inside.organization.id,
      id,
      encryptedDraft: encryptedDraft && new Uint8Array(encryptedDraft),
    }
    const before =
      encryptedDraft && (await inside.db.signInProvider.findFirst({ where: same, select: { issuer: true, clientId: true } }))
    const { count } = await inside.db.signInProvider.updateMany({ where: same, data: { ...data, ...inUse } })
    if (count === 0) return false
    const details = { provider: provider.name, ...(encryptedDraft && { isInUse: true }) }
    await recordAudit(inside, { action: 'tried_sign_in_provider', details })
    // Existing identities belong to the earlier issuer or client, so members have to be linked again.
    if (before && (before.issuer !== issuer || before.clientId !== clientId)) await startRelinking(inside, provider)
    if (encryptedDraft) await notifyOfSecurityChange(inside)
    return true
  })
  return isKept ? { kind: 'tried', token } : { kind: 'refused', problem: 'expiredSignIn' }
}

/** Records a rejected sign-in by an organization's provider, and shows the provider's error on its page. */
async function recordRefusedSignIn(
  service: ServiceContext,
  { id, name, organization }: FoundProvider,
  { problem, code }: { problem: ProviderSignInProblem; code?: string },
  token?: IdToken,
): Promise<CallbackOutcome> {
  if (organization && token) {
    const details = { provider: name, problem, ...(code && { claim: code }), email: token.email, subject: token.subject }
    await recordAudit(enterOrganization(service, organization), { action: 'refused_sign_in', details })
  }
  if (code) await recordProviderError(service, id, { problem, code })
  return { kind: 'refused', problem, ...(code && { code }) }
}

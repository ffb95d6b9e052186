import type { SecondFactor } from '../../generated/prisma/client.ts'
import type { AuditEvent } from '../audit/record-audit.ts'
import type { ServiceContext } from '../context.ts'
import { MAX_NAME_LENGTH } from '../limits.ts'
import { isUuid } from '../text/uuid.ts'
import { inTransaction } from '../transaction.ts'
import { checkName, findIssues } from '../validation/checks.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import { raiseAuthVersion } from './auth-version.ts'
import { lockOwnCredential, requireOwnCredential } from './credential-lock.ts'
import { endOtherSessions } from './end-sessions.ts'
import { hasFactor } from './has-factor.ts'
import { notifyPerson } from './notify-person.ts'
import type { Passkey } from './passkeys.ts'
import { countRecoveryCodes, replaceRecoveryCodes } from './recovery-codes.ts'
import { type Membership, recordInAllOrganizations, type SignedIn } from './sessions.ts'

export type Factor = Pick<SecondFactor, 'id' | 'kind' | 'name' | 'isSynced' | 'createdAt' | 'lastUsedAt'>

/** Apps and passkeys of one person together. */
export const MAX_FACTORS = 20

/** Second factors of a person, oldest first. */
export const listFactors = ({ db }: ServiceContext, credentialId: string): Promise<SecondFactor[]> =>
  db.secondFactor.findMany({ where: { credentialId }, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] })

/** Passkeys for the host of the service. */
export const passkeysOf = (factors: readonly SecondFactor[], rp: { id: string } | null): Passkey[] =>
  factors.filter((factor): factor is Passkey => factor.kind === 'passkey' && factor.rpId === rp?.id)

/** Second factors for My account: the list, remaining recovery codes, and whether the last factor is required. */
export async function readFactors(service: ServiceContext, { credential, memberships }: SignedIn) {
  const factors = await listFactors(service, credential.id)
  const recoveryCodes = factors.length > 0 ? await countRecoveryCodes(service, credential.id) : 0
  return { factors, recoveryCodes, isRequired: requiresFactor(memberships, service.deps.clock()) }
}

/** True if an organization requires a second factor now, from everybody or from holders of a sign-in exception. */
const requiresFactor = (memberships: readonly Membership[], now: Date): boolean =>
  memberships.some(({ organization: { security }, signInException }) => {
    const isPast = signInException !== null && security?.ssoEnforcedAt != null
    return isPast || (security?.secondFactorFrom != null && security.secondFactorFrom <= now)
  })

/** Renames a factor. @throws DomainError invalid: the name, `signedOut`. */
export async function renameFactor(
  service: ServiceContext,
  signedIn: SignedIn,
  { id, name }: { id: string; name: string },
): Promise<void> {
  throwIfIssues(findIssues([['name', checkName(name, MAX_NAME_LENGTH)]]))
  if (!isUuid(id)) return
  await inTransaction(service, async (inside) => {
    await requireOwnCredential(inside, signedIn)
    const where = { id, credentialId: signedIn.credential.id }
    const { count } = await inside.db.secondFactor.updateMany({ where, data: { name: name.trim() } })
    if (count > 0)
      await recordInAllOrganizations(inside, signedIn.memberships, { action: 'renamed_factor', details: { name: name.trim() } })
  })
}

/**
 * Takes a factor away, and with the last one the recovery codes. One that is gone already stays so.
 *
 * @throws DomainError invalid: `lastFactor`, where an organization asks for one; `signedOut`.
 */
export async function removeFactor(service: ServiceContext, signedIn: SignedIn, id: string): Promise<void> {
  if (!isUuid(id)) return
  await inTransaction(service, async (inside) => {
    await requireOwnCredential(inside, signedIn)
    const factors = await listFactors(inside, signedIn.credential.id)
    const factor = factors.find((candidate) => candidate.id === id)
    if (!factor) return
    const isLast = factors.length === 1
    const isRefused = isLast && requiresFactor(signedIn.memberships, inside.deps.clock())
    throwIfIssues(isRefused ? [{ field: '', rule: 'account', problem: 'lastFactor' }] : [])
    await inside.db.secondFactor.delete({ where: { id } })
    if (isLast) await inside.db.recoveryCode.deleteMany({ where: { credentialId: signedIn.credential.id } })
    await recordFactorChange(inside, signedIn, { action: 'removed_factor', details: { kind: factor.kind, name: factor.name } })
    await notifyPerson(inside, signedIn.memberships, 'factor_removed', { called: factor.name })
  })
}

/** Replaces the recovery codes of a person with a second factor. @returns codes to show once; none without a factor, or if the session has ended. */
export const renewRecoveryCodes = (service: ServiceContext, signedIn: SignedIn): Promise<string[]> =>
  inTransaction(service, async (inside) => {
    if (!(await lockOwnCredential(inside, signedIn)) || !(await hasFactor(inside, signedIn.credential.id))) return []
    const codes = await replaceRecoveryCodes(inside, signedIn.credential.id)
    await recordFactorChange(inside, signedIn, { action: 'made_recovery_codes' })
    await notifyPerson(inside, signedIn.memberships, 'recovery_codes_made')
    return codes
  })

/** Ends all other sessions and trusted devices of the person, because a factor has changed. */
export async function recordFactorChange(inside: ServiceContext, signedIn: SignedIn, event: AuditEvent): Promise<void> {
  await endOtherSessions(inside, signedIn, 'factor_changed')
  await raiseAuthVersion(inside, signedIn.credential.id, signedIn.sessionId)
  await recordInAllOrganizations(inside, signedIn.memberships, event)
}

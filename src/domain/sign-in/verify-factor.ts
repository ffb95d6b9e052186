import type { ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import type { SignInProblem } from '../ports/problems.ts'
import { listFactors, passkeysOf } from './factors.ts'
import { type Passkey, passkeyIdOf, relyingParty, verifyPasskey } from './passkeys.ts'
import { useRecoveryCode } from './recovery-codes.ts'
import { findStep } from './totp.ts'
import { decryptTotpSecret } from './totp-secrets.ts'
import { claimToken } from './used-tokens.ts'

/** An app's code has six characters, a recovery code four times as many, so the person need not say which it is. */
const RECOVERY_CODE_FROM = 12

export const keyOfStep = (factorId: string, step: number): string => `totp ${factorId} ${step}`
export const keyOfChallenge = (challenge: string): string => `passkey ${challenge}`

export const createCodeError = (problem: SignInProblem): DomainError =>
  new DomainError('invalid', { issues: [{ field: 'code', rule: 'account', problem }] })

/** One error for all causes, which are not revealed. */
export const createPasskeyError = (): DomainError =>
  new DomainError('invalid', { issues: [{ field: '', rule: 'account', problem: 'passkey' }] })

/**
 * Uses up a code of an app, or a recovery code. Call it in the transaction that the code authorizes.
 *
 * @returns which of the two. @throws DomainError invalid: `wrong`; `codeUsed` if it was valid before.
 */
export async function useCode(inside: ServiceContext, credentialId: string, code: string): Promise<'totp' | 'recovery'> {
  if (code.replaceAll(/\s/g, '').length >= RECOVERY_CODE_FROM) {
    if (!(await useRecoveryCode(inside, credentialId, code))) throw createCodeError('wrong')
    return 'recovery'
  }
  const now = inside.deps.clock()
  for (const factor of await listFactors(inside, credentialId)) {
    const secret = decryptTotpSecret(inside, factor)
    const found = secret && findStep(secret, code, now)
    if (!found) continue
    if (!(await claimToken(inside, keyOfStep(factor.id, found.step), found.endsAt))) throw createCodeError('codeUsed')
    await inside.db.secondFactor.updateMany({ where: { id: factor.id }, data: { lastUsedAt: now } })
    return 'totp'
  }
  throw createCodeError('wrong')
}

/** Verified answer of a passkey whose challenge is still unused. */
export type VerifiedPasskey = { passkey: Passkey; challenge: string; endsAt: Date; counter: bigint }

/**
 * Finds and verifies the passkey of an answer. Writes nothing: signatures are verified before the transaction.
 *
 * @param credentialId account that was asked; undefined if the person is not known yet. @throws DomainError invalid: `passkey`.
 */
export async function verifyPasskeyResponse(
  service: ServiceContext,
  answer: string,
  credentialId?: string,
): Promise<VerifiedPasskey> {
  const rp = relyingParty(service)
  const webauthnId = passkeyIdOf(answer)
  const factor = rp && webauthnId ? await service.db.secondFactor.findUnique({ where: { webauthnId } }) : null
  const [passkey] = passkeysOf(factor ? [factor] : [], rp)
  if (!passkey || (credentialId !== undefined && passkey.credentialId !== credentialId)) throw createPasskeyError()
  const shown = await verifyPasskey(service, passkey, answer, credentialId)
  if (!shown) throw createPasskeyError()
  return { passkey, ...shown }
}

/** Uses up a passkey's response. Call it in the transaction that it authorizes. @throws DomainError invalid: `passkey`. */
export async function usePasskey(
  inside: ServiceContext,
  { passkey, challenge, endsAt, counter }: VerifiedPasskey,
): Promise<void> {
  const isFirst = await claimToken(inside, keyOfChallenge(challenge), endsAt)
  const { count } = await inside.db.secondFactor.updateMany({
    where: { id: passkey.id, counter: { lte: counter } },
    data: { counter, lastUsedAt: inside.deps.clock() },
  })
  if (!isFirst || count === 0) throw createPasskeyError()
}

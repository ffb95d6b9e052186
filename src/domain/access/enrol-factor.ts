import { checkName, checkSize, findIssues } from '../checking/checks.ts'
import { refuse } from '../checking/refuse.ts'
import type { ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import { MAX_NAME_LENGTH } from '../limits.ts'
import { open, seal } from '../secrets/seal.ts'
import { inTransaction } from '../transaction.ts'
import { holdCredential, listFactors, MAX_FACTORS, passkeysOf, recordChange } from './factors.ts'
import { creationOptions, type PasskeyOptions, relyingParty, verifyCreation } from './passkeys.ts'
import { addProof } from './proofs.ts'
import { keyOfChallenge, keyOfStep, refusedCode, refusedPasskey } from './prove-factor.ts'
import { replaceRecoveryCodes } from './recovery-codes.ts'
import type { SignedIn } from './sessions.ts'
import { spend } from './spent-proofs.ts'
import { tellPerson } from './tell-person.ts'
import { findStep, makeTotpSecret, otpauthUrl, toBase32 } from './totp.ts'
import { sealTotpSecret } from './totp-secrets.ts'

/** What an app is set up with. @property sealed the same for the form that confirms it: until then nothing is stored. */
export type AppOffer = { sealed: string; secret: string; url: string }

const offerPurpose = ({ credential }: SignedIn): string => `totp offer ${credential.id}`

/** Makes what an app is to be set up with; or has what was offered before, while its code was not right. */
export function offerApp(service: ServiceContext, signedIn: SignedIn, given = ''): AppOffer {
  const offered = readOffer(service, signedIn, given) ?? { id: service.deps.newId(), secret: makeTotpSecret() }
  const text = JSON.stringify({ id: offered.id, secret: offered.secret.toString('base64') })
  const sealed = Buffer.from(seal(service.deps.secretKeys, offerPurpose(signedIn), text)).toString('base64url')
  const issuer = new URL(service.deps.site.publicUrl).hostname
  const url = otpauthUrl(offered.secret, { issuer, account: signedIn.credential.email })
  return { sealed, secret: toBase32(offered.secret), url }
}

/** Null for what was not offered to this person. */
function readOffer({ deps }: ServiceContext, signedIn: SignedIn, sealed: string): { id: string; secret: Buffer } | null {
  const text = open(deps.secretKeys, offerPurpose(signedIn), Buffer.from(sealed, 'base64url'))
  if (text === null) return null
  const { id, secret } = JSON.parse(text) as { id: string; secret: string }
  return { id, secret: Buffer.from(secret, 'base64') }
}

/**
 * Adds an app to what a person signs in with, once it has shown a right code: all of it, or nothing.
 *
 * @returns recovery codes, to be shown now and never again, with the first factor; with a further one none.
 * @throws DomainError invalid: `wrong`, `codeUsed`, for the name, or too many.
 */
export async function enrolApp(
  service: ServiceContext,
  signedIn: SignedIn,
  { sealed, code, name }: { sealed: string; code: string; name: string },
): Promise<string[]> {
  refuse(findIssues([['name', checkName(name, MAX_NAME_LENGTH)]]))
  const offer = readOffer(service, signedIn, sealed)
  const found = offer && findStep(offer.secret, code, service.deps.clock())
  if (!found) throw refusedCode('wrong')
  return enrol(service, signedIn, { kind: 'totp', name: name.trim() }, async (inside, row) => {
    const { id, secret } = offer
    // Its page was sent before: that has done it.
    if ((await inside.db.secondFactor.count({ where: { id } })) > 0) return false
    if (!(await spend(inside, keyOfStep(id, found.step), found.endsAt))) throw refusedCode('codeUsed')
    await inside.db.secondFactor.create({ data: { ...row, id, secret: sealTotpSecret(inside, id, secret) } })
    return true
  })
}

/** What a browser is asked for to make a passkey; null where browsers know none for the service's address. */
export async function offerPasskey(
  service: ServiceContext,
  { credential, memberships }: SignedIn,
): Promise<PasskeyOptions | null> {
  const rp = relyingParty(service)
  if (!rp) return null
  const { firstName = '', lastName = '' } = memberships[0]?.user ?? {}
  const person = { id: credential.id, email: credential.email, name: `${firstName} ${lastName}`.trim() }
  return creationOptions(service, rp, { person, others: passkeysOf(await listFactors(service, credential.id), rp) })
}

/**
 * Adds a passkey to what a person signs in with, or instead of the password.
 *
 * @param answer of the browser, as text. @returns recovery codes as {@link enrolApp} does.
 * @throws DomainError invalid: `wrong`, for the name, or too many.
 */
export async function enrolPasskey(
  service: ServiceContext,
  signedIn: SignedIn,
  { answer, name }: { answer: string; name: string },
): Promise<string[]> {
  refuse(findIssues([['name', checkName(name, MAX_NAME_LENGTH)]]))
  const made = await verifyCreation(service, signedIn.credential.id, answer)
  const rp = relyingParty(service)
  if (!made || !rp) throw refusedPasskey()
  return enrol(service, signedIn, { kind: 'passkey', name: name.trim() }, async (inside, row) => {
    const { challenge, endsAt, ...passkey } = made
    if (!(await spend(inside, keyOfChallenge(challenge), endsAt))) throw refusedPasskey()
    const data = [{ ...row, id: inside.deps.newId(), ...passkey, rpId: rp.id }]
    // An authenticator may have given the id to somebody else, or say so.
    const { count } = await inside.db.secondFactor.createMany({ data, skipDuplicates: true })
    if (count === 0) throw refusedPasskey()
    return true
  })
}

type Named = { kind: 'totp' | 'passkey'; name: string }

/**
 * Adds a factor in one transaction with all that follows: it is a proof of this session, other sessions end, and the first comes with recovery codes.
 *
 * @param add returns false where it was added before. @throws DomainError not_permitted where the account is gone.
 */
function enrol(
  service: ServiceContext,
  signedIn: SignedIn,
  { kind, name }: Named,
  add: (inside: ServiceContext, row: Named & { credentialId: string; createdAt: Date }) => Promise<boolean>,
): Promise<string[]> {
  const { sessionId, credential } = signedIn
  return inTransaction(service, async (inside) => {
    if (!(await holdCredential(inside, credential.id))) throw new DomainError('not_permitted')
    const before = await listFactors(inside, credential.id)
    refuse(findIssues([['name', checkSize('maxItems', before.length + 1, MAX_FACTORS)]]))
    if (!(await add(inside, { kind, name, credentialId: credential.id, createdAt: inside.deps.clock() }))) return []
    const codes = before.length === 0 ? await replaceRecoveryCodes(inside, credential.id) : []
    await recordChange(inside, signedIn, { action: 'added_factor', details: { kind, name } })
    await tellPerson(inside, signedIn.memberships, 'factor_added', { called: name })
    await addProof(inside, sessionId, kind)
    return codes
  })
}

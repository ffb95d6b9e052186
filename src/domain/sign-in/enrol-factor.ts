import type { ServiceContext } from '../context.ts'
import { MAX_NAME_LENGTH } from '../limits.ts'
import { decrypt, encrypt } from '../secrets/encryption.ts'
import { inTransaction } from '../transaction.ts'
import { checkName, checkSize, findIssues } from '../validation/checks.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import { addAuthentication } from './add-authentication.ts'
import { requireOwnCredential } from './credential-lock.ts'
import { listFactors, MAX_FACTORS, passkeysOf, recordFactorChange } from './factors.ts'
import { notifyPerson } from './notify-person.ts'
import { creationOptions, type PasskeyOptions, relyingParty, verifyCreation } from './passkeys.ts'
import { createRecoveryCodes, hasRecoveryCodes, replaceRecoveryCodes } from './recovery-codes.ts'
import type { SignedIn } from './sessions.ts'
import { createTotpSecret, findStep, otpauthUrl, toBase32 } from './totp.ts'
import { encryptTotpSecret } from './totp-secrets.ts'
import { claimToken } from './used-tokens.ts'
import { createCodeError, createPasskeyError, keyOfChallenge, keyOfStep } from './verify-factor.ts'

/**
 * Factor that a page offers to add. Nothing is stored until its form is sent.
 *
 * @property id of the factor. @property secret of an app. @property seed of the recovery codes, so that a repeated form is answered with the same.
 */
type Offer = { id: string; secret: Buffer; seed: Buffer }

/** Data for setting up an authenticator app. @property sealed the offer, for the form. */
export type AppOffer = { sealed: string; secret: string; url: string }
/** Data for creating a passkey. @property options for the browser. */
export type PasskeyOffer = { sealed: string; options: PasskeyOptions }

/** Milliseconds for which a repeated form shows the recovery codes again. */
const REPEATABLE_MS = 15 * 60_000

const offerPurpose = ({ credential }: SignedIn): string => `factor offer ${credential.id}`

const createOffer = ({ deps }: ServiceContext): Offer => ({
  id: deps.newId(),
  secret: createTotpSecret(),
  seed: createTotpSecret(),
})

function encryptOffer({ deps }: ServiceContext, signedIn: SignedIn, { id, secret, seed }: Offer): string {
  const text = JSON.stringify({ id, secret: secret.toString('base64'), seed: seed.toString('base64') })
  return Buffer.from(encrypt(deps.secretKeys, offerPurpose(signedIn), text)).toString('base64url')
}

/** Null if it was not offered to this person. */
function readOffer({ deps }: ServiceContext, signedIn: SignedIn, sealed: string): Offer | null {
  const text = decrypt(deps.secretKeys, offerPurpose(signedIn), Buffer.from(sealed, 'base64url'))
  if (text === null) return null
  const { id, secret, seed } = JSON.parse(text) as Record<keyof Offer, string>
  return { id, secret: Buffer.from(secret, 'base64'), seed: Buffer.from(seed, 'base64') }
}

/** Offers an authenticator app. @param sealedOffer the sealed offer of a form with a wrong code, to offer the same secret again. */
export function offerApp(service: ServiceContext, signedIn: SignedIn, sealedOffer = ''): AppOffer {
  const offer = readOffer(service, signedIn, sealedOffer) ?? createOffer(service)
  const issuer = new URL(service.deps.site.publicUrl).hostname
  const url = otpauthUrl(offer.secret, { issuer, account: signedIn.credential.email })
  return { sealed: encryptOffer(service, signedIn, offer), secret: toBase32(offer.secret), url }
}

/**
 * Adds an authenticator app after it has shown a right code, all or nothing. A form that is sent again because its answer was lost gets the
 * same answer.
 *
 * @returns recovery codes with the first factor, to be shown once; none with a further factor.
 * @throws DomainError invalid: `wrong`, `codeUsed`, `unproven`, `signedOut`, for the name, or too many.
 */
export async function enrolApp(
  service: ServiceContext,
  signedIn: SignedIn,
  { sealed, code, name }: { sealed: string; code: string; name: string },
): Promise<string[]> {
  throwIfIssues(findIssues([['name', checkName(name, MAX_NAME_LENGTH)]]))
  const offer = readOffer(service, signedIn, sealed)
  if (!offer) throw createCodeError('wrong')
  return enrol(service, signedIn, { kind: 'totp', name: name.trim(), offer }, async (inside, row) => {
    const found = findStep(offer.secret, code, inside.deps.clock())
    if (!found) throw createCodeError('wrong')
    if (!(await claimToken(inside, keyOfStep(offer.id, found.step), found.endsAt))) throw createCodeError('codeUsed')
    await inside.db.secondFactor.create({ data: { ...row, encryptedSecret: encryptTotpSecret(inside, offer.id, offer.secret) } })
  })
}

/** Offers a passkey; null where browsers know none for the service's address. */
export async function offerPasskey(service: ServiceContext, signedIn: SignedIn): Promise<PasskeyOffer | null> {
  const rp = relyingParty(service)
  if (!rp) return null
  const { credential, memberships } = signedIn
  const { firstName = '', lastName = '' } = memberships[0]?.user ?? {}
  const person = { id: credential.id, email: credential.email, name: `${firstName} ${lastName}`.trim() }
  const options = creationOptions(service, rp, {
    person,
    existingPasskeys: passkeysOf(await listFactors(service, credential.id), rp),
  })
  return { sealed: encryptOffer(service, signedIn, createOffer(service)), options }
}

/**
 * Adds a passkey as a second factor, or in place of the password. A form that is sent again gets the same answer.
 *
 * @param passkey.answer the answer of the browser as text. @returns recovery codes as {@link enrolApp} does.
 * @throws DomainError invalid: `passkey`, `unproven`, `signedOut`, for the name, or too many.
 */
export async function enrolPasskey(
  service: ServiceContext,
  signedIn: SignedIn,
  { sealed, answer, name }: { sealed: string; answer: string; name: string },
): Promise<string[]> {
  throwIfIssues(findIssues([['name', checkName(name, MAX_NAME_LENGTH)]]))
  const offer = readOffer(service, signedIn, sealed)
  const rp = relyingParty(service)
  const created = await verifyCreation(service, signedIn.credential.id, answer)
  if (!offer || !rp) throw createPasskeyError()
  return enrol(service, signedIn, { kind: 'passkey', name: name.trim(), offer }, async (inside, row) => {
    if (!created) throw createPasskeyError()
    const { challenge, endsAt, ...passkey } = created
    if (!(await claimToken(inside, keyOfChallenge(challenge), endsAt))) throw createPasskeyError()
    // The authenticator may have registered the id for another person, or claim so.
    const { count } = await inside.db.secondFactor.createMany({
      data: [{ ...row, ...passkey, rpId: rp.id }],
      skipDuplicates: true,
    })
    if (count === 0) throw createPasskeyError()
  })
}

type Named = { kind: 'totp' | 'passkey'; name: string }

/**
 * Adds a factor in one transaction. It counts as an authentication of this session, ends other sessions, and the first comes with recovery
 * codes. Requires a proven address, so that somebody who sets up an account for another's address leaves nothing in it.
 *
 * @throws DomainError invalid: `unproven`, `signedOut`, or too many factors.
 */
function enrol(
  service: ServiceContext,
  signedIn: SignedIn,
  { kind, name, offer }: Named & { offer: Offer },
  add: (inside: ServiceContext, row: Named & { id: string; credentialId: string; createdAt: Date }) => Promise<void>,
): Promise<string[]> {
  const { sessionId, credential } = signedIn
  return inTransaction(service, async (inside) => {
    const { emailVerifiedAt } = await requireOwnCredential(inside, signedIn)
    throwIfIssues(emailVerifiedAt ? [] : [{ field: '', rule: 'account', problem: 'unproven' }])
    const before = await listFactors(inside, credential.id)
    const now = inside.deps.clock()
    const codes = createRecoveryCodes(offer.seed)
    const added = before.find(({ id }) => id === offer.id)
    if (added) {
      const isRecent = now.getTime() - added.createdAt.getTime() < REPEATABLE_MS
      return isRecent && (await hasRecoveryCodes(inside, credential.id, codes)) ? codes : []
    }
    throwIfIssues(findIssues([['name', checkSize('maxItems', before.length + 1, MAX_FACTORS)]]))
    await add(inside, { id: offer.id, kind, name, credentialId: credential.id, createdAt: now })
    if (before.length === 0) await replaceRecoveryCodes(inside, credential.id, codes)
    await recordFactorChange(inside, signedIn, { action: 'added_factor', details: { kind, name } })
    await notifyPerson(inside, signedIn.memberships, 'factor_added', { called: name })
    await addAuthentication(inside, sessionId, kind)
    return before.length === 0 ? codes : []
  })
}

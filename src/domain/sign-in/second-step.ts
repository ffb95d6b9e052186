import type { ServiceContext } from '../context.ts'
import { open, seal } from '../secrets/seal.ts'
import { inTransaction } from '../transaction.ts'
import type { PendingJoin } from './account-links.ts'
import { completeJoin, lockMember } from './complete-join.ts'
import { lockCredential } from './credential-lock.ts'
import { recognize } from './devices.ts'
import { listFactors, passkeysOf } from './factors.ts'
import { type PasskeyOptions, relyingParty, requestOptions } from './passkeys.ts'
import { type GivenProof, kindOf, type ProviderWord } from './proof-rows.ts'
import { renewSession } from './proofs.ts'
import { proveCode, provePasskey, readPasskey, refusedPasskey } from './prove-factor.ts'
import { hashToken } from './session-tokens.ts'
import {
  type Browser,
  type Credential,
  findMemberships,
  lockUnchanged,
  type NewSession,
  recordForAll,
  type SignedIn,
  startSession,
} from './sessions.ts'
import { type Entry, makeChangeLink, type WaitingEntry } from './sign-in.ts'
import { type Coder, countCode, forgiveCodes } from './sign-in-attempts.ts'
import { tellOfBreakGlass } from './tell-break-glass.ts'
import { tellOnceADay } from './tell-once-a-day.ts'
import { tellPerson } from './tell-person.ts'
import { daysToRemember, trustDevice } from './trusted-devices.ts'

/** Milliseconds between a password and what is asked for after it. */
export const SECOND_STEP_MS = 10 * 60_000
const PURPOSE = 'second step'

/**
 * A person who authenticated once and has to give a second factor.
 *
 * @property authVersion at that time: a later change of the account's authentication makes them begin again.
 * @property mustChange true if the password is a common one and has to be replaced.
 * @property word authentication by an identity provider. @property join membership to activate afterwards.
 * @property sessionId session of somebody who is signed in and lacks what an organization requires.
 */
export type Waiting = {
  credentialId: string
  authVersion: number
  mustChange?: boolean
  word?: ProviderWord
  join?: PendingJoin
  sessionId?: string
}

/** It for the browser's cookie: there it is, and nowhere else. */
export function sealWaiting({ deps }: ServiceContext, { id, authVersion, mustChange, word, join }: WaitingEntry): string {
  const endsAt = deps.clock().getTime() + SECOND_STEP_MS
  const text = JSON.stringify({ credentialId: id, authVersion, mustChange, word, join, endsAt })
  return Buffer.from(seal(deps.secretKeys, PURPOSE, text)).toString('base64url')
}

/** Null for what is none of ours, or too old. */
export function openWaiting({ deps }: ServiceContext, sealed: string): Waiting | null {
  const text = open(deps.secretKeys, PURPOSE, Buffer.from(sealed, 'base64url'))
  if (text === null) return null
  const { endsAt, word, ...waiting } = JSON.parse(text) as Waiting & { endsAt: number }
  if (endsAt <= deps.clock().getTime()) return null
  return word ? { ...waiting, word: { ...word, authTime: word.authTime && new Date(word.authTime) } } : waiting
}

/** State for somebody who is signed in and needs a second factor that was added or required since. */
export const waitingOf = ({ sessionId, credential: { id, authVersion } }: SignedIn): Waiting => ({
  credentialId: id,
  authVersion,
  sessionId,
})

/** How it goes on once they have. */
export type Step = Exclude<Entry, { waiting: unknown }>

/** Ways to show a second factor that somebody has. */
export type SecondStep = {
  email: string
  hasApp: boolean
  passkey: PasskeyOptions | null
  /** For how many days the browser can be remembered; 0: not. */
  days: number
}

/** Second step to show; null if the person has to begin again or has no factor. */
export async function readSecondStep(service: ServiceContext, waiting: Waiting): Promise<SecondStep | null> {
  const credential = await findWaiting(service, waiting)
  const factors = credential ? await listFactors(service, credential.id) : []
  if (!credential || factors.length === 0) return null
  const rp = relyingParty(service)
  const passkeys = passkeysOf(factors, rp)
  const passkey = rp && passkeys.length > 0 ? requestOptions(service, rp, { credentialId: credential.id, of: passkeys }) : null
  const days = daysToRemember(await findMemberships(service, credential.id))
  return { email: credential.email, hasApp: factors.some(({ kind }) => kind === 'totp'), passkey, days }
}

/**
 * Signs in by a code after the password: of an app, or a recovery code.
 *
 * @param remembers whether the browser is to stand for it from now on.
 * @returns null when they have to begin anew. @throws DomainError invalid: `wrong`, `codeUsed`, `tooMany`.
 */
export async function signInByCode(
  service: ServiceContext,
  waiting: Waiting,
  { code, browser, remembers = false }: { code: string; browser: Browser; remembers?: boolean },
): Promise<Step | null> {
  const credential = await findWaiting(service, waiting)
  if (!credential) return null
  const coder = { credentialId: credential.id, deviceId: (await recognize(service, credential, browser)).deviceId }
  await countCodeOrTell(service, coder)
  const step = await inTransaction(service, async (inside) => {
    if (!(await lockWaiting(inside, credential, waiting))) return null
    const kind = await proveCode(inside, credential.id, code)
    if (kind === 'recovery') await tellPerson(inside, await findMemberships(inside, credential.id), 'recovery_code_used')
    return goOn(inside, credential, waiting, { browser, kind, remembers })
  })
  await forgiveCodes(service, coder)
  return step
}

/** Whoever comes so far has the password: where too many codes are wrong, its owner is told. */
async function countCodeOrTell(service: ServiceContext, coder: Coder): Promise<void> {
  try {
    await countCode(service, coder)
  } catch (error) {
    await tellOnceADay(service, coder.credentialId, 'wrong_codes')
    throw error
  }
}

/** Signs in by a passkey after the password. @returns null when they have to begin anew. @throws DomainError invalid: `passkey`. */
export async function signInByOwnPasskey(
  service: ServiceContext,
  waiting: Waiting,
  { answer, browser }: { answer: string; browser: Browser },
): Promise<Step | null> {
  const credential = await findWaiting(service, waiting)
  if (!credential) return null
  const shown = await readPasskey(service, answer, credential.id)
  return inTransaction(service, async (inside) => {
    if (!(await lockWaiting(inside, credential, waiting))) return null
    await provePasskey(inside, shown)
    return goOn(inside, credential, waiting, { browser, kind: 'passkey' })
  })
}

/** Options for signing in with a passkey alone; null if browsers accept none for the service's address. */
export function offerPasskeySignIn(service: ServiceContext): PasskeyOptions | null {
  const rp = relyingParty(service)
  return rp && requestOptions(service, rp)
}

/** Signs in by a passkey alone: it has verified its user, so that it is two factors. @throws DomainError invalid: `passkey`. */
export async function signInByPasskey(
  service: ServiceContext,
  { answer, browser }: { answer: string; browser: Browser },
): Promise<NewSession> {
  const shown = await readPasskey(service, answer)
  return inTransaction(service, async (inside) => {
    const { credentialId } = shown.passkey
    const held = await lockCredential(inside, credentialId)
    const credential = held && (await inside.db.credential.findUnique({ where: { id: credentialId } }))
    await provePasskey(inside, shown)
    const session = credential ? await begin(inside, credential, browser, ['passkey']) : null
    if (!session) throw refusedPasskey()
    return session
  })
}

async function findWaiting({ db }: ServiceContext, { credentialId: id, authVersion }: Waiting): Promise<Credential | null> {
  return db.credential.findUnique({ where: { id, authVersion } })
}

/** @returns false if what they sign in with has changed meanwhile. */
async function lockWaiting(inside: ServiceContext, credential: Credential, { join }: Waiting): Promise<boolean> {
  if (join) await lockMember(inside, join)
  return lockUnchanged(inside, credential)
}

/** Goes on in the session that is waiting, or starts one. @returns null as {@link begin} does, and if the link to join can't be used any more. */
async function goOn(
  inside: ServiceContext,
  credential: Credential,
  { sessionId, mustChange = false, word, join }: Waiting,
  { browser, kind, remembers = false }: { browser: Browser; kind: 'totp' | 'recovery' | 'passkey'; remembers?: boolean },
): Promise<Step | null> {
  const memberships = await findMemberships(inside, credential.id)
  const [membership] = memberships
  if (mustChange && membership) return { mustChange: await makeChangeLink(inside, membership, credential.id) }
  if (join && !(await completeJoin(inside, credential.id, join))) return null
  const session =
    sessionId === undefined
      ? await begin(inside, credential, browser, [word ?? 'password', kind])
      : await renewSession(inside, sessionId, { proof: kind, credential, browser })
  if (!session) return null
  if (sessionId !== undefined) await recordForAll(inside, memberships, { action: 'signed_in', details: { proofs: [kind] } })
  if (remembers && daysToRemember(memberships) > 0) await trustDevice(inside, credential.id, session.device)
  return { session }
}

/** Null for who opens no organization, and where what they sign in with was changed in this very moment. */
async function begin(
  inside: ServiceContext,
  credential: Credential,
  browser: Browser,
  proofs: GivenProof[],
): Promise<NewSession | null> {
  const memberships = await findMemberships(inside, credential.id)
  const session = memberships.length > 0 ? await startSession(inside, credential, browser, proofs) : null
  if (!session) return null
  await recordForAll(inside, memberships, { action: 'signed_in', details: { proofs: proofs.map(kindOf) } })
  await tellOfBreakGlass(inside, { tokenHash: hashToken(session.token) }, memberships)
  return session
}

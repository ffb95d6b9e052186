import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { promisify } from 'node:util'
import { createFairQueue } from '../concurrency/work-queues.ts'
import type { Deps, ServiceContext } from '../context.ts'
import { DomainError, type Issue } from '../errors.ts'
import { isCommonPassword } from './common-passwords.ts'
import { findPasswordPieces } from './password-pieces.ts'
import type { NetworkOrigin } from './sessions.ts'

/** Characters: of a password alone, and of one with a second factor (NIST SP 800-63B-4). */
export const MIN_PASSWORD_LENGTH = 15
const MIN_LENGTH_WITH_FACTOR = 10
const MAX_PASSWORD_LENGTH = 200

const SALT_BYTES = 16
const KEY_BYTES = 32
/** 16 MiB and about a fifth of a second. */
export const PASSWORD_COST: Deps['passwordCost'] = { N: 2 ** 14, r: 8, p: 5 }
const hashNameOf = ({ N, r, p }: Deps['passwordCost']) => `scrypt-${N}-${r}-${p}`
/** Each takes a processor, and one of the four threads that files and names of hosts are looked up with, too: both are left for others. */
const CONCURRENT_HASHES = availableParallelism() > 2 ? 2 : 1
/** Nobody waits longer than this takes: about two seconds; on a machine that is short of processors, not as long as clients do. */
const MAX_WAITING = 20
const MAX_WAIT_MS = 10_000
/**
 * Fair queue for hashing passwords, one or two at a time. When it is full, the newest entry of the longest line is refused, so that an
 * attacker blocks nobody else.
 *
 * @param line queue key, see {@link passwordQueueKeyOf}. @throws DomainError too_many_passwords.
 */
export const runInPasswordQueue = createFairQueue(CONCURRENT_HASHES, {
  waiting: MAX_WAITING,
  longest: MAX_WAIT_MS,
  refusal: () => new DomainError('too_many_passwords'),
})

/** Key of the queue: the network, or the account if many clients share one address. */
export const passwordQueueKeyOf = (email: string, { network, isShared }: NetworkOrigin): string =>
  isShared ? `account ${email.toLowerCase()}` : `network ${network}`

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt)

/** Hash that no password matches. Compared for unknown addresses, so that they take as long. */
export const NO_PASSWORD = [
  hashNameOf(PASSWORD_COST),
  Buffer.alloc(SALT_BYTES).toString('base64'),
  Buffer.alloc(KEY_BYTES).toString('base64'),
].join('$')

/**
 * Account that chooses a password.
 *
 * @property words names of the person and their organizations.
 */
export type PasswordOwner = { email: string; words: readonly string[]; hasSecondFactor?: boolean }

const PRODUCT_WORDS = ['assessment', 'assessments', 'invitation', 'invite', 'portal']

/** Issues of a new password: too short, or made of guessable pieces. */
export function findPasswordIssues(field: string, password: string, { email, words, hasSecondFactor }: PasswordOwner): Issue[] {
  const length = [...password.normalize('NFKC')].length
  const limit = hasSecondFactor ? MIN_LENGTH_WITH_FACTOR : MIN_PASSWORD_LENGTH
  if (length < limit) return [{ field, rule: 'account', problem: 'minLength', limit }]
  if (length > MAX_PASSWORD_LENGTH) return [{ field, rule: 'maxLength', limit: MAX_PASSWORD_LENGTH }]
  if (password.trim().toLowerCase() === email.toLowerCase()) return [{ field, rule: 'account', problem: 'notAddress' }]
  const pieces = findPasswordPieces(password, [email, ...words, ...PRODUCT_WORDS])
  return pieces ? [{ field, rule: 'common', pieces }] : []
}

/** As {@link findPasswordIssues}; also `breached` for a leaked password, if the operator has switched that check on. */
export async function checkNewPassword(
  { deps }: ServiceContext,
  field: string,
  password: string,
  owner: PasswordOwner,
): Promise<Issue[]> {
  const issues = findPasswordIssues(field, password, owner)
  if (issues.length > 0) return issues
  return (await deps.isBreached(password)) ? [{ field, rule: 'account', problem: 'breached' }] : []
}

/** True if the password is on the list of common passwords. */
export const isCommon = (password: string): boolean => isCommonPassword(password.normalize('NFKC').toLowerCase())

/**
 * Hashes a password.
 *
 * @param line queue in which it waits. @param isWanted asked when its turn comes.
 * @returns null if it is no longer wanted.
 * @throws DomainError too_many_passwords.
 */
export async function hashPassword(
  { deps: { passwordCost } }: ServiceContext,
  password: string,
  line: string,
  isWanted: () => Promise<boolean>,
): Promise<string | null> {
  const salt = randomBytes(SALT_BYTES)
  const key = await runInPasswordQueue(line, async () => ((await isWanted()) ? deriveKey(password, salt, passwordCost) : null))
  return key && [hashNameOf(passwordCost), salt.toString('base64'), key.toString('base64')].join('$')
}

/** True if the password matches. Call it {@link runInPasswordQueue}. @param stored undefined for an unknown address. */
export async function matchesPassword(password: string, stored = NO_PASSWORD): Promise<boolean> {
  const [name = '', salt = '', expected = ''] = stored.split('$')
  // Hashes keep the cost that they were made with.
  const [, N, r, p] = name.split('-').map(Number)
  // A password that is too long costs no more than a wrong one.
  const candidate = [...password].slice(0, MAX_PASSWORD_LENGTH + 1).join('')
  const key = await deriveKey(candidate, Buffer.from(salt, 'base64'), { N, r, p })
  return timingSafeEqual(key, Buffer.from(expected, 'base64')) && stored !== NO_PASSWORD
}

/** Makes one key of the same characters, however a keyboard composes them (NIST SP 800-63B, 5.1.1.2). */
const deriveKey = (password: string, salt: Buffer, cost: ScryptOptions): Promise<Buffer> =>
  derive(password.normalize('NFKC'), salt, KEY_BYTES, cost)

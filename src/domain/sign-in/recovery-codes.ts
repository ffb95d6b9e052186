import { createHmac, hash, randomBytes } from 'node:crypto'
import type { ServiceContext } from '../context.ts'
import { toBase32 } from './totp.ts'

/** Codes per set. */
export const RECOVERY_CODES = 8
/** 120 bits: beyond guessing, so that a fast hash is enough. */
const CODE_BYTES = 15
const SEED_BYTES = 20

/** The codes of a seed, always the same, as people read them. @param seed at least 120 random bits that nobody else has. */
export const createRecoveryCodes = (seed: Uint8Array = randomBytes(SEED_BYTES)): string[] =>
  Array.from({ length: RECOVERY_CODES }, (_, i) => {
    const bytes = createHmac('sha256', seed).update(`recovery code ${i}`).digest().subarray(0, CODE_BYTES)
    return toBase32(bytes).match(/.{4}/g)!.join('-')
  })

/**
 * Replaces a person's recovery codes.
 *
 * @returns the codes, to show once. Only hashes are stored.
 */
export async function replaceRecoveryCodes(
  { db, deps }: ServiceContext,
  credentialId: string,
  codes = createRecoveryCodes(),
): Promise<string[]> {
  const createdAt = deps.clock()
  await db.recoveryCode.deleteMany({ where: { credentialId } })
  await db.recoveryCode.createMany({ data: codes.map((code) => ({ hash: hashOf(code), credentialId, createdAt })) })
  return codes
}

/** False if the person has created other codes since. */
export const hasRecoveryCodes = async (
  { db }: ServiceContext,
  credentialId: string,
  codes: readonly string[],
): Promise<boolean> =>
  (await db.recoveryCode.count({ where: { credentialId, hash: { in: codes.map(hashOf) } } })) === codes.length

/** Marks a code as used, however it is typed. @returns true for one of several simultaneous attempts. */
export async function useRecoveryCode({ db, deps }: ServiceContext, credentialId: string, text: string): Promise<boolean> {
  const { count } = await db.recoveryCode.updateMany({
    where: { hash: hashOf(text), credentialId, usedAt: null },
    data: { usedAt: deps.clock() },
  })
  return count === 1
}

/** Number of a person's unused codes. */
export const countRecoveryCodes = ({ db }: ServiceContext, credentialId: string): Promise<number> =>
  db.recoveryCode.count({ where: { credentialId, usedAt: null } })

/** Without hyphens and spaces, in either case. No code has a 0 or a 1: who reads these off a sheet means O and I. */
const hashOf = (text: string): Uint8Array<ArrayBuffer> => {
  const code = text
    .toUpperCase()
    .replaceAll('0', 'O')
    .replaceAll('1', 'I')
    .replaceAll(/[^A-Z2-7]/g, '')
  return new Uint8Array(hash('sha256', code, 'buffer'))
}

import { hash, randomBytes } from 'node:crypto'
import type { ServiceContext } from '../context.ts'
import { toBase32 } from './totp.ts'

/** How many somebody gets at once. */
export const RECOVERY_CODES = 8
/** 120 bits: beyond guessing, so that a fast hash is enough. */
const CODE_BYTES = 15

/**
 * Makes a person's recovery codes anew: earlier ones are good no more.
 *
 * @returns the codes, of which only hashes are kept: to be shown now, and never again.
 */
export async function replaceRecoveryCodes({ db, deps }: ServiceContext, credentialId: string): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, () => toBase32(randomBytes(CODE_BYTES)))
  const createdAt = deps.clock()
  await db.recoveryCode.deleteMany({ where: { credentialId } })
  await db.recoveryCode.createMany({ data: codes.map((code) => ({ hash: hashOf(code), credentialId, createdAt })) })
  return codes.map((code) => code.match(/.{4}/g)!.join('-'))
}

/** Uses a code up, however it is typed: of those who try at once, one. @returns whether it was this one. */
export async function useRecoveryCode({ db, deps }: ServiceContext, credentialId: string, text: string): Promise<boolean> {
  const { count } = await db.recoveryCode.updateMany({
    where: { hash: hashOf(text), credentialId, usedAt: null },
    data: { usedAt: deps.clock() },
  })
  return count === 1
}

/** How many a person has left. */
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

import { hash, randomBytes } from 'node:crypto'
import type { ServiceContext } from '../context.ts'

/** Longest duration of a session in milliseconds, however it is used. */
export const MAX_SESSION_MS = 30 * 86_400_000
const TOKEN_BYTES = 32

/** A token for the cookie, its hash for the database, and when the cookie expires. */
export function createSessionToken({ deps }: Pick<ServiceContext, 'deps'>) {
  const token = randomBytes(TOKEN_BYTES).toString('base64url')
  return { token, tokenHash: hashToken(token), expiresAt: new Date(deps.clock().getTime() + MAX_SESSION_MS) }
}

export const hashToken = (token: string): Uint8Array<ArrayBuffer> => new Uint8Array(hash('sha256', token, 'buffer'))

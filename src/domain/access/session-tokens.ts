import { hash, randomBytes } from 'node:crypto'
import type { ServiceContext } from '../context.ts'

/** Milliseconds in all after which a session ends, however it is used. */
export const LONGEST_MS = 30 * 86_400_000
const TOKEN_BYTES = 32
/** Begins the token of a session that rests on nothing but an identity provider's word: the release before does not find it, and would take it for one of a password. */
const BY_PROVIDER = '~'

/**
 * A token for the cookie, what is kept of it, and when the cookie is of no use any more.
 *
 * @param isOwn whether the session rests on something that the person has shown to us.
 */
export function makeSessionToken({ deps }: Pick<ServiceContext, 'deps'>, isOwn: boolean) {
  const token = `${isOwn ? '' : BY_PROVIDER}${randomBytes(TOKEN_BYTES).toString('base64url')}`
  return { token, tokenHash: hashToken(token), expiresAt: new Date(deps.clock().getTime() + LONGEST_MS) }
}

/** Whether a session with this token needs a proof that is written down: of one without, the release before has left them out. */
export const needsProof = (token: string): boolean => token.startsWith(BY_PROVIDER)

export const hashToken = (token: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(hash('sha256', needsProof(token) ? `by provider ${token}` : token, 'buffer'))

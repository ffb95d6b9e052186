import type { AccountLinkKind } from '../../generated/prisma/client.ts'
import { bytesToUuid, signToken, UUID_BYTES, uuidToBytes, verifyToken } from './signed-token.ts'

export type { AccountLinkKind }

/**
 * Reference in a member's link.
 *
 * @property provesAddress true if the link was mailed to the address or handed out by the operator. A link that an admin copies
 * proves nothing.
 */
export type AccountLinkRef = { id: string; kind: AccountLinkKind; provesAddress?: boolean }

const purpose = 'account-link'
const KINDS: AccountLinkKind[] = ['join', 'reset']
/** An additional byte in links that prove an address, so that nobody can construct one from a copied link. */
const PROVES_ADDRESS = 1

/**
 * The secret part of a member's link: its id and kind, signed. It is computed when needed and stored nowhere, so that nothing at rest
 * opens an account.
 *
 * @param secretKeys newest first; the newest signs.
 */
export const signAccountLink = (secretKeys: readonly string[], { id, kind, provesAddress = false }: AccountLinkRef): string =>
  signToken(
    secretKeys,
    purpose,
    Buffer.concat([uuidToBytes(id), Buffer.of(KINDS.indexOf(kind), ...(provesAddress ? [PROVES_ADDRESS] : []))]),
  )

/** Reads a link's secret part; null when none of the keys has signed it as a link of that kind. */
export function readAccountLink(secretKeys: readonly string[], kind: AccountLinkKind, token: string): AccountLinkRef | null {
  const proving = verifyToken(secretKeys, purpose, token, UUID_BYTES + 2)
  const payload = proving ?? verifyToken(secretKeys, purpose, token, UUID_BYTES + 1)
  if (payload === null || KINDS[payload[UUID_BYTES]!] !== kind) return null
  return { id: bytesToUuid(payload.subarray(0, UUID_BYTES)), kind, provesAddress: proving?.[UUID_BYTES + 1] === PROVES_ADDRESS }
}

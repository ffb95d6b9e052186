import type { AccountLinkKind } from '../../generated/prisma/client.ts'
import { bytesToUuid, signToken, UUID_BYTES, uuidToBytes, verifyToken } from './signed-token.ts'

export type { AccountLinkKind }

/** What a member's link stands for. @property isMailed of one that nobody has but who reads the address's mail: an admin gets another to copy. */
export type AccountLinkRef = { id: string; kind: AccountLinkKind; isMailed?: boolean }

const purpose = 'account-link'
const KINDS: AccountLinkKind[] = ['join', 'reset']
/** What a link that is mailed has besides, so that it can't be made of one to copy; none of the links of before has it. */
const MAILED = 1

/**
 * The secret part of a member's link: its id and kind, signed. It is computed when needed and stored nowhere, so that nothing at rest
 * opens an account.
 *
 * @param secretKeys newest first; the newest signs.
 */
export const signAccountLink = (secretKeys: readonly string[], { id, kind, isMailed = false }: AccountLinkRef): string =>
  signToken(secretKeys, purpose, Buffer.concat([uuidToBytes(id), Buffer.of(KINDS.indexOf(kind), ...(isMailed ? [MAILED] : []))]))

/** Reads a link's secret part; null when none of the keys has signed it as a link of that kind. */
export function readAccountLink(secretKeys: readonly string[], kind: AccountLinkKind, token: string): AccountLinkRef | null {
  const mailed = verifyToken(secretKeys, purpose, token, UUID_BYTES + 2)
  const payload = mailed ?? verifyToken(secretKeys, purpose, token, UUID_BYTES + 1)
  if (payload === null || KINDS[payload[UUID_BYTES]!] !== kind) return null
  return { id: bytesToUuid(payload.subarray(0, UUID_BYTES)), kind, isMailed: mailed?.[UUID_BYTES + 1] === MAILED }
}

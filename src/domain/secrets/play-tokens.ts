import { bytesToUuid, signToken, UUID_BYTES, uuidToBytes, verifyToken } from './signed-token.ts'

/** One playing of what a question plays, for one tab. @property play the how manieth of the question it is. */
export type PlayLink = { submissionId: string; tab: string; number: number; play: number; expiresAt: Date }

const NUMBER_BYTES = 4
const TIME_BYTES = 6

/** Signs the secret part of its link. @param secretKeys newest first; the newest signs. */
export function signPlay(secretKeys: readonly string[], { submissionId, tab, number, play, expiresAt }: PlayLink): string {
  const numbers = Buffer.alloc(2 * NUMBER_BYTES + TIME_BYTES)
  numbers.writeUInt32BE(number)
  numbers.writeUInt32BE(play, NUMBER_BYTES)
  numbers.writeUIntBE(expiresAt.getTime(), 2 * NUMBER_BYTES, TIME_BYTES)
  return signToken(secretKeys, 'play', Buffer.concat([uuidToBytes(submissionId), uuidToBytes(tab), numbers]))
}

/** Reads the secret part of a play link; null if none of the keys signed it. */
export function readPlay(secretKeys: readonly string[], token: string): PlayLink | null {
  const numbers = 2 * UUID_BYTES
  const payload = verifyToken(secretKeys, 'play', token, numbers + 2 * NUMBER_BYTES + TIME_BYTES)
  if (payload === null) return null
  return {
    submissionId: bytesToUuid(payload.subarray(0, UUID_BYTES)),
    tab: bytesToUuid(payload.subarray(UUID_BYTES, numbers)),
    number: payload.readUInt32BE(numbers),
    play: payload.readUInt32BE(numbers + NUMBER_BYTES),
    expiresAt: new Date(payload.readUIntBE(numbers + 2 * NUMBER_BYTES, TIME_BYTES)),
  }
}

import { randomFillSync } from 'node:crypto'
import { v7 } from 'uuid'

const ID_BYTES = 16
/** Offset of the sequence number in the random bytes. */
const SEQ_AT = 6
/** The system's random source takes hardly longer for 256 ids than for one. */
const DRAWN_AT_ONCE = 256

/** Creates UUIDs (version 7), each greater than the one before: within a millisecond they count up from a random number. */
export function createNewId(): () => string {
  const randomBytes = Buffer.alloc(DRAWN_AT_ONCE * ID_BYTES)
  let used = randomBytes.length
  let msecs = 0
  let seq = 0

  return () => {
    if (used === randomBytes.length) {
      randomFillSync(randomBytes)
      used = 0
    }
    const random = randomBytes.subarray(used, used + ID_BYTES)
    used += ID_BYTES
    const now = Date.now()
    if (now > msecs) {
      msecs = now
      seq = random.readUInt32BE(SEQ_AT) >>> 1 // leaves room to count up
    } else seq++
    return v7({ random, msecs, seq })
  }
}

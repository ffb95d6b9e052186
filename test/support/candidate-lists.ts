import type { ReadRecipientList } from '../../src/domain/invites/batches/batches.ts'
import { MAX_BATCH_ROWS } from '../../src/domain/limits.ts'
import { parseCandidateList } from '../../src/uploads/candidate-list.ts'

/** Reads a list of candidates in this process, in one part. */
export const readerOf =
  (list: string): ReadRecipientList =>
  async (take) => {
    const { rows, ...facts } = parseCandidateList(Buffer.from(list), MAX_BATCH_ROWS)
    await take(rows)
    return facts
  }

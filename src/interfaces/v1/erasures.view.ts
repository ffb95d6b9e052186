import { type Static, Type } from '@sinclair/typebox'
import { type ErasedKind, type Erasure, RETAINED_DATA } from '../../domain/erasure/erasures.ts'
import { RETAINED_DATA_REASONS } from '../../http/erasures/retained-data.ts'
import { DateTime, Email, isoTime, isoTimeOrNull, Nullable, StringEnum, Uuid } from '../../http/schema/field-types.ts'
import { NAME } from '../../http/schema/schema-keywords.ts'

// Beyond v1.md: requests to erase candidates, and receipts.

export const CandidateToEraseBody = Type.Object(
  { email: Email('The address, in upper or lower case') },
  { [NAME]: 'CandidateToErase', examples: [{ email: 'jane.doe@example.com' }] },
)

const MEANINGS: Record<ErasedKind, string> = {
  invites: 'Invites, live and test',
  submissions: 'Submissions, with grades and results',
  media: 'Photos and recordings',
  mails: 'Mails to the candidate, with their state',
  listRows: 'Rows of lists and batches',
  events: 'Events without their externalId and metadata',
  webhookAnswers: 'Emptied answers of webhook receivers',
  requestRecords: 'Answers stored for retries',
  otherTraces: 'Notices of mail servers, saved filters, forms and words in the audit log',
  suppressions: 'Suppressions, which stay without the address',
}
const counts = Object.fromEntries(
  Object.entries(MEANINGS).map(([kind, description]) => [kind, Type.Integer({ minimum: 0, description })]),
) as Record<ErasedKind, ReturnType<typeof Type.Integer>>

export const ErasureView = Type.Object(
  {
    id: Uuid(),
    state: StringEnum(['running', 'done'], { description: 'running: until nothing is left' }),
    requestedAt: DateTime(),
    finishedAt: Nullable(DateTime('null while it is running')),
    backupsUntil: Nullable(DateTime('Until then the operator’s backups contain the erased data; null while it is running')),
    erased: Type.Object(counts, { description: 'Counts of erased rows so far' }),
    stays: Type.Array(
      Type.Object({
        what: StringEnum([...RETAINED_DATA]),
        why: Type.String(),
      }),
      { description: 'Data that stays, without the person' },
    ),
  },
  {
    [NAME]: 'Erasure',
    description: 'An erasure or, once it is done, its receipt. It contains no address',
  },
)

export const presentErasure = ({
  id,
  createdAt,
  finishedAt,
  backupsUntil,
  counts: erased,
}: Erasure): Static<typeof ErasureView> => ({
  id,
  state: finishedAt ? 'done' : 'running',
  requestedAt: isoTime(createdAt),
  finishedAt: isoTimeOrNull(finishedAt),
  backupsUntil: isoTimeOrNull(backupsUntil),
  erased,
  stays: RETAINED_DATA.map((what) => ({ what, why: RETAINED_DATA_REASONS[what] })),
})

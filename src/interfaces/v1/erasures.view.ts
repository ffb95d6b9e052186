import { type Static, Type } from '@sinclair/typebox'
import { type ErasedKind, type Erasure, WHAT_STAYS } from '../../domain/erasure/erasures.ts'
import { RETAINED_DATA_REASONS } from '../../http/erasures/retained-data.ts'
import { DateTime, Email, isoTime, isoTimeOrNull, Nullable, StringEnum, Uuid } from '../../http/schema/field-types.ts'
import { NAME } from '../../http/schema/schema-keywords.ts'

// Beyond v1.md: who is erased, and the receipt of that.

export const CandidateToEraseBody = Type.Object(
  { email: Email('The address, in either case') },
  { [NAME]: 'CandidateToErase', examples: [{ email: 'jane.doe@example.com' }] },
)

const MEANINGS: Record<ErasedKind, string> = {
  invites: 'Invites, live and test',
  submissions: 'What was sent in for them, with grades and results',
  media: 'Photos and recordings',
  mails: 'Mails to the candidate, and what became of them',
  listRows: 'Rows of lists and batches',
  events: 'Events that hold externalId and metadata no more',
  webhookAnswers: 'Answers of webhooks’ receivers that are emptied',
  requestRecords: 'Answers that were kept for retries',
  otherTraces: 'Notices of mail servers, saved filters, forms and words in the audit log',
  suppressions: 'Entries of the list of addresses that are not written to, which go on without the address',
}
const counts = Object.fromEntries(
  Object.entries(MEANINGS).map(([kind, description]) => [kind, Type.Integer({ minimum: 0, description })]),
) as Record<ErasedKind, ReturnType<typeof Type.Integer>>

export const ErasureView = Type.Object(
  {
    id: Uuid(),
    state: StringEnum(['running', 'done'], { description: 'running: it goes on until nothing is left' }),
    requestedAt: DateTime(),
    finishedAt: Nullable(DateTime('null while it runs')),
    backupsUntil: Nullable(DateTime('Until then the operator’s backups hold what was erased; null while it runs')),
    erased: Type.Object(counts, { description: 'How much is gone, so far' }),
    stays: Type.Array(
      Type.Object({
        what: StringEnum([...WHAT_STAYS]),
        why: Type.String(),
      }),
      { description: 'What is kept, without the person' },
    ),
  },
  {
    [NAME]: 'Erasure',
    description: 'An erasure or, once it is done, its receipt. It holds no address',
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
  stays: WHAT_STAYS.map((what) => ({ what, why: RETAINED_DATA_REASONS[what] })),
})

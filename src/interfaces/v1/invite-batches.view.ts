import { type Static, Type } from '@sinclair/typebox'
import type { Issue } from '../../domain/errors.ts'
import { omitUndefined } from '../../domain/fields/omit-undefined.ts'
import { BATCH_ROW_STATES, type Batch, type BatchRequest, type BatchRow } from '../../domain/invites/batches/batches.ts'
import { MAX_ROWS_A_REQUEST } from '../../domain/limits.ts'
import { DateTime, isoTime, isoTimeOrNull, Nullable, StringEnum, Uuid } from '../../http/schema/field-types.ts'
import { NAME } from '../../http/schema/schema-keywords.ts'
import { formatIssue } from './errors.ts'
import { NewInviteBody, toNewInvite } from './invites.view.ts'

// Beyond v1.md: many invites by one request.

const {
  assessmentId,
  recipientEmail: _,
  recipientName: __,
  externalId: ___,
  metadata: ____,
  ...shared
} = NewInviteBody.properties

/** Fields of a row. Only their types are checked here; the import validates each row. */
const Row = Type.Object({
  recipientEmail: Type.String({ description: "Candidate's address" }),
  recipientName: Type.Optional(Nullable(Type.String({ description: "Candidate's name" }))),
  externalId: Type.Optional(Nullable(Type.String({ description: 'Your own id of this invite' }))),
  metadata: Type.Optional(
    Nullable(
      Type.Unsafe<Record<string, string>>({
        type: 'object',
        additionalProperties: { type: 'string' },
        description: 'Your own data about this invite',
      }),
    ),
  ),
  customMessage: Type.Optional(Type.String({ description: 'Replaces the common value' })),
  expiresInDays: Type.Optional(Type.Integer({ description: 'Replaces the common values' })),
  assignedGraderId: Type.Optional(Nullable(Type.String({ description: 'Replaces the common value' }))),
  tagIds: Type.Optional(Type.Array(Type.String(), { description: 'Added to the common values' })),
})

export const NewBatchBody = Type.Object(
  {
    assessmentId,
    invites: Type.Array(Row, { maxItems: MAX_ROWS_A_REQUEST, description: 'The candidates, at least one' }),
    ...shared,
  },
  {
    [NAME]: 'NewInviteBatch',
    examples: [
      {
        assessmentId: '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e71',
        expiresInDays: 14,
        invites: [
          { recipientEmail: 'sam@example.com', recipientName: 'Sam Rivera', externalId: 'application-4711' },
          { recipientEmail: 'kim@example.com', tagIds: ['0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e79'] },
        ],
      },
    ],
  },
)

export function toBatch({ invites, ...body }: Static<typeof NewBatchBody>): BatchRequest {
  const { assessmentId, recipientEmail: _, ...terms } = toNewInvite({ ...body, recipientEmail: '' })
  const rows = invites.map(({ recipientEmail, recipientName, externalId, metadata, ...rowTerms }) => ({
    email: recipientEmail.trim(),
    name: recipientName ?? '',
    rowTerms: omitUndefined({
      externalId,
      metadata,
      customMessage: rowTerms.customMessage,
      expiresInDays: rowTerms.expiresInDays,
      assignedGraderId: rowTerms.assignedGraderId,
      tagIds: rowTerms.tagIds && [...new Set([...(terms.tagIds ?? []), ...rowTerms.tagIds])],
    }),
    unknown: [],
  }))
  return { assessmentId, rows, terms: omitUndefined(terms) }
}

const Count = (description: string) => Type.Integer({ description })

export const BatchView = Type.Object(
  {
    id: Uuid('Batch identifier'),
    assessmentId: Uuid('Assessment to invite to'),
    state: StringEnum(['checked', 'running', 'stopped', 'finished'], {
      description: 'checked: a list in the portal that nobody has started; stopped: by a member, who can continue it',
    }),
    total: Count('Rows'),
    counts: Type.Object({
      ready: Count('Waiting'),
      invited: Count('Invited'),
      already: Count('The address was invited to the assessment before'),
      repeated: Count('An earlier row has the same address'),
      invalid: Count('Invalid rows'),
      refused: Count('Not invited because the key was revoked or has expired'),
    }),
    createdAt: DateTime(),
    finishedAt: Nullable(DateTime('When the last row was processed')),
  },
  { [NAME]: 'InviteBatch' },
)

export const OneBatchView = Type.Object({ batch: BatchView }, { [NAME]: 'OneInviteBatch', description: 'The batch' })
export const StartedBatchView = Type.Object(
  { batch: BatchView },
  { [NAME]: 'StartedInviteBatch', description: 'The batch; its rows are now being invited' },
)

export const presentBatch = ({ id, assessmentId, counts, ...batch }: Batch): Static<typeof BatchView> => ({
  id,
  assessmentId,
  state: batch.finishedAt ? 'finished' : batch.stoppedAt ? 'stopped' : batch.startedAt ? 'running' : 'checked',
  total: Object.values(counts).reduce((sum, count) => sum + count, 0),
  counts: { ...counts },
  createdAt: isoTime(batch.createdAt),
  finishedAt: isoTimeOrNull(batch.finishedAt),
})

export const RowState = StringEnum(BATCH_ROW_STATES, { [NAME]: 'InviteBatchRowState' })
export const BatchRowView = Type.Object(
  {
    number: Type.Integer({ description: 'Place in the request, from 1' }),
    recipientEmail: Type.String({ description: 'As sent, 300 characters at most' }),
    recipientName: Nullable(Type.String()),
    state: RowState,
    inviteId: Nullable(Uuid('The new or existing invite')),
    repeats: Nullable(Type.Integer({ description: 'Number of the row that has the same address' })),
    error: Nullable(Type.String({ description: 'What is wrong with it' })),
  },
  { [NAME]: 'InviteBatchRow' },
)

export function presentBatchRow(row: BatchRow): Static<typeof BatchRowView> {
  const [issue] = row.issues as unknown as Issue[]
  return {
    number: row.number,
    recipientEmail: row.email,
    recipientName: row.name || null,
    state: row.state,
    inviteId: row.inviteId,
    repeats: row.repeats,
    error: issue ? formatIssue(issue) : null,
  }
}

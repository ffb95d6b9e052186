import { Type } from '@sinclair/typebox'
import type { NamedAuditEntry } from '../../domain/audit/audit-log.ts'
import { DateTime, KeyMode, Nullable, Uuid } from '../../http/schema/field-types.ts'
import { NAME } from '../../http/schema/schema-keywords.ts'

// Beyond v1.md: audit log, for clients that archive it.

const Named = (description: string) =>
  Type.Object(
    {
      type: Type.String({ description }),
      id: Nullable(Uuid()),
      name: Nullable(Type.String({ description: 'A member’s address, or a key’s name; null for others, and if deleted' })),
    },
    { additionalProperties: false },
  )

export const AuditEntryView = Type.Object(
  {
    id: Uuid(),
    position: Type.Integer({ description: 'Position in the log: rises, and is never reused' }),
    at: DateTime('When it was done'),
    mode: KeyMode,
    actor: Named('member, apiKey, ats, candidate, operator or system'),
    action: Type.String({ description: 'A verb in the past tense; new ones may be added' }),
    target: Nullable(Named('Type of the row that changed')),
    details: Type.Unsafe<NamedAuditEntry['details']>({
      type: 'object',
      additionalProperties: true,
      description: 'Further facts; `before` and `after` of a changed field',
    }),
    address: Nullable(Type.String({ description: 'Network address of the request; null if there was no request' })),
    userAgent: Nullable(Type.String({ description: 'User agent of the browser or program' })),
    sessionId: Nullable(Uuid('Session of the signed-in member')),
    requestId: Nullable(Type.String({ description: 'X-Request-Id of the answer to the request' })),
  },
  { [NAME]: 'AuditEntry', additionalProperties: false },
)

/** An entry in the feed. */
export const presentAuditEntry = (entry: NamedAuditEntry) => ({
  id: entry.id,
  position: Number(entry.position),
  at: entry.at.toISOString(),
  mode: entry.mode,
  actor: { type: entry.actorKind, id: entry.actorId, name: entry.actorName ?? null },
  action: entry.action,
  target: entry.targetKind === null ? null : { type: entry.targetKind, id: entry.targetId, name: entry.targetName ?? null },
  details: entry.details,
  address: entry.address,
  userAgent: entry.userAgent,
  sessionId: entry.sessionId,
  requestId: entry.requestId,
})

import { Type } from '@sinclair/typebox'
import type { ToldEntry } from '../../domain/audit/audit-log.ts'
import { DateTime, KeyMode, OrNull, Uuid } from '../../http/schema/field-types.ts'
import { NAME } from '../../http/schema/schema-keywords.ts'

// Beyond v1.md: who did what in the organization, for whoever keeps a copy of the audit log.

const Named = (description: string) =>
  Type.Object(
    {
      type: Type.String({ description }),
      id: OrNull(Uuid()),
      name: OrNull(
        Type.String({ description: 'The address of a member, or the name of a key; null of others, and of what is gone' }),
      ),
    },
    { additionalProperties: false },
  )

export const AuditEntryView = Type.Object(
  {
    id: Uuid(),
    position: Type.Integer({ description: 'The place in the log: rises, and is never given again' }),
    at: DateTime('When it was done'),
    mode: KeyMode,
    actor: Named('member, apiKey, ats, candidate, operator or system'),
    action: Type.String({ description: 'A verb in the past; new ones may come' }),
    target: OrNull(Named('The kind of row it was done to')),
    details: Type.Unsafe<ToldEntry['details']>({
      type: 'object',
      additionalProperties: true,
      description: 'What a reader needs besides; of a changed field what it was before, and after',
    }),
    address: OrNull(Type.String({ description: 'That the request came from; null of what no request has done' })),
    userAgent: OrNull(Type.String({ description: 'As the browser or the program calls itself' })),
    sessionId: OrNull(Uuid('Of whoever was signed in')),
    requestId: OrNull(Type.String({ description: 'Of the request, as its answer had it in X-Request-Id' })),
  },
  { [NAME]: 'AuditEntry', additionalProperties: false },
)

/** An entry as the feed shows it. */
export const presentAuditEntry = (entry: ToldEntry) => ({
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

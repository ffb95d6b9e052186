import { Type } from '@sinclair/typebox'
import { readAuditFeed } from '../../domain/audit/audit-log.ts'
import type { TypedApp } from '../../http/requests/typed-app.ts'
import { HEADERS, NAME } from '../../http/schema/schema-keywords.ts'
import { AuditEntryView, presentAuditEntry } from './audit-entries.view.ts'
import { CURSOR_PATTERN } from './events.routes.ts'
import { Limit, toLimit } from './list.ts'

const AuditFeedView = Type.Object(
  {
    entries: Type.Array(AuditEntryView),
    cursor: Type.String({ description: 'Cursor for the next request, also if there were no entries' }),
    hasMore: Type.Boolean({ description: 'Whether there are more entries' }),
  },
  { [NAME]: 'AuditEntryPage', [HEADERS]: ['Ignored-Parameters'], description: 'Entries, oldest first' },
)

/** Beyond v1.md: a feed of the audit log, for systems that archive it. */
export function auditEntryRoutes(app: TypedApp): void {
  app.get(
    '/audit-entries',
    {
      schema: {
        tags: ['Audit log'],
        operationId: 'listAuditEntries',
        scope: 'audit:read',
        requiresScopedKey: true,
        summary: 'Follow the audit log',
        description:
          'Entries after a cursor, oldest first, each once, for a system that keeps a copy (SIEM). Only for keys with the scope `audit:read`. Entries are kept for a year, or as long as the organization has chosen.',
        querystring: Type.Object({
          cursor: Type.Optional(
            Type.String({
              pattern: CURSOR_PATTERN,
              description: 'The `cursor` of the previous answer. Default: from the oldest stored entry.',
            }),
          ),
          limit: Limit,
        }),
        response: { 200: AuditFeedView },
      },
    },
    async ({ ctx, query }) => {
      const page = await readAuditFeed(ctx, { cursor: BigInt(query.cursor ?? 0), limit: toLimit(query) })
      return { entries: page.entries.map(presentAuditEntry), cursor: String(page.cursor), hasMore: page.hasMore }
    },
  )
}

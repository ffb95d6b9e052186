import { Type } from '@sinclair/typebox'
import { EVENT_TYPES } from '../../domain/events/event.ts'
import { EVENT_MODES, readEvents } from '../../domain/events/feed.ts'
import { MAX_FILTER_VALUES } from '../../domain/limits.ts'
import type { TypedApp } from '../../http/requests/typed-app.ts'
import { StringEnum, Uuid } from '../../http/schema/field-types.ts'
import { HEADERS, NAME } from '../../http/schema/schema-keywords.ts'
import { EventView, presentEvent } from './events.view.ts'
import { Limit, toLimit } from './list.ts'

/** Up to 18 digits: more than any position has. */
export const CURSOR_PATTERN = '^[0-9]{1,18}$'
const query = Type.Object({
  cursor: Type.Optional(
    Type.String({
      pattern: CURSOR_PATTERN,
      description:
        'The `cursor` of the previous answer, or the `Events-Cursor` of a list, unchanged. Default: from the oldest stored event.',
    }),
  ),
  limit: Limit,
  type: Type.Optional(
    Type.Array(StringEnum(EVENT_TYPES), { maxItems: MAX_FILTER_VALUES, description: 'Only events of these types' }),
  ),
  types: Type.Optional(Type.Array(StringEnum(EVENT_TYPES), { maxItems: MAX_FILTER_VALUES, description: 'The same as type' })),
  inviteId: Type.Optional(Uuid('Only events of this invite')),
  mode: Type.Optional(
    StringEnum(EVENT_MODES, { description: 'Events of live invites, of test invites, or of both, if the key can see them' }),
  ),
})
const EventsView = Type.Object(
  {
    events: Type.Array(EventView),
    cursor: Type.String({ description: 'Cursor for the next request, also if there were no events' }),
    hasMore: Type.Boolean({ description: 'Whether there are more events' }),
  },
  { [NAME]: 'EventPage', [HEADERS]: ['Ignored-Parameters'], description: 'Events, oldest first' },
)

/** Beyond v1.md: the feed of events. */
export function eventRoutes(app: TypedApp): void {
  app.get(
    '/events',
    {
      schema: {
        tags: ['Events'],
        operationId: 'listEvents',
        scope: 'events:read',
        summary: 'Follow what happens',
        description:
          'Events after a cursor, oldest first, each once. To keep a copy: list everything, then follow from the `Events-Cursor` of the first page. Ask at once while `hasMore` is true, otherwise whenever you like. A 410 means that events after the cursor are no longer stored: list everything again.',
        querystring: query,
        response: { 200: EventsView },
        errors: ['cursor_gone'],
      },
    },
    async ({ ctx, query }) => {
      const { type, types = type, inviteId, mode, cursor } = query
      const filter = {
        ...(mode !== undefined && { mode }),
        ...(types !== undefined && { types: [...new Set([...(type ?? []), ...types])] }),
        ...(inviteId !== undefined && { inviteId }),
      }
      const from = { cursor: cursor === undefined ? undefined : BigInt(cursor), limit: toLimit(query) }
      const page = await readEvents(ctx, filter, from)
      return { events: page.events.map(presentEvent), cursor: String(page.cursor), hasMore: page.hasMore }
    },
  )
}

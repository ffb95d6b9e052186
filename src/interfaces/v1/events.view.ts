import { type Static, Type } from '@sinclair/typebox'
import { EMAIL_FAILURES, EVENT_ACTORS, EVENT_TYPES, MEDIA_KINDS } from '../../domain/events/event.ts'
import { type FeedEvent, showEvent } from '../../domain/events/feed.ts'
import { DateTime, InviteStatus, KeyMode, OrNull, Uuid, Words } from '../../http/field-types.ts'
import { NAME } from '../../http/schema-keywords.ts'

// Beyond v1.md: what has happened, for whoever keeps in step.

const EventData = Type.Object(
  {
    inviteId: Uuid(),
    assessmentId: Uuid(),
    status: InviteStatus,
    mode: Type.Optional(KeyMode),
    submissionId: Type.Optional(
      Uuid('invite.accepted, .started, .completed: once the invite is started; submission.released, .media_deleted'),
    ),
    expiresAt: Type.Optional(DateTime('invite.extended, .reactivated: the new expiry')),
    emailId: Type.Optional(Uuid('email.sent, .failed')),
    reason: Type.Optional(
      Words(EMAIL_FAILURES, {
        description:
          'email.failed: the link was dead before the mail went out, the mail server refused it for good, or its retries were used up',
      }),
    ),
    kinds: Type.Optional(
      Type.Array(Words(MEDIA_KINDS), {
        description: 'submission.media_deleted: what the photos and recordings showed that are gone',
      }),
    ),
  },
  { [NAME]: 'EventData', description: 'The invite as it was by the event, and what the type has besides' },
)

export const EventView = Type.Object(
  {
    id: Uuid('The same wherever the event is told'),
    type: Words(EVENT_TYPES),
    position: Type.Integer({ description: 'Place in the feed: rises from event to event, not by one' }),
    createdAt: DateTime(),
    actor: Type.Object(
      { type: Words(EVENT_ACTORS), id: OrNull(Uuid('Of the API key or member')) },
      { description: 'Who made it happen' },
    ),
    data: EventData,
  },
  {
    [NAME]: 'Event',
    examples: [
      {
        id: '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e76',
        type: 'invite.created',
        position: 4711,
        createdAt: '2026-03-02T09:30:00.000Z',
        actor: { type: 'api_key', id: '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e77' },
        data: {
          inviteId: '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e73',
          assessmentId: '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e71',
          status: 'pending',
          mode: 'live',
        },
      },
    ],
  },
)

/** Webhooks send the same. */
export const presentEvent = (event: FeedEvent): Static<typeof EventView> => showEvent(event)

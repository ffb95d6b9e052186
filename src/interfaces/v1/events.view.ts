import { type Static, type TObject, type TSchema, Type } from '@sinclair/typebox'
import { INVITE_SOURCES } from '../../domain/authorization/author.ts'
import {
  DECISIONS,
  EMAIL_FAILURES,
  EVENT_ACTORS,
  EVENT_TYPES,
  type EventData,
  type EventType,
  MEDIA_KINDS,
  STOPPED_MAILS,
  TEST_EVENT,
} from '../../domain/events/event.ts'
import { type FeedEvent, toEventJson } from '../../domain/events/feed.ts'
import { BOUNCES } from '../../domain/mails/classify-bounce.ts'
import { oneOfTypes, pascalCase } from '../../http/openapi/components.ts'
import { DateTime, InviteStatus, KeyMode, Metadata, Nullable, StringEnum, Uuid } from '../../http/schema/field-types.ts'
import { DOCUMENTED_AS, NAME } from '../../http/schema/schema-keywords.ts'

// Beyond v1.md: feed of events, for clients that synchronize.

const inviteFields = {
  inviteId: Uuid(),
  assessmentId: Uuid(),
  status: InviteStatus,
  externalId: Type.Optional(Type.String({ description: 'Your own id of the invite, if it has one' })),
  metadata: Type.Optional(Metadata('Your own data about the invite, if it has any')),
}
const submissionId = Uuid('Id of the submission, once the invite is started')
const expiresAt = DateTime('The new expiry')
const emailId = Uuid()
const reason = StringEnum(EMAIL_FAILURES, {
  description:
    'obsolete: the link was no longer valid before the mail was sent; refused: by the mail server; given_up: its retries were used up; suppressed: the address gets no mails, see `GET /suppressions`',
})
const bounce = StringEnum(BOUNCES, {
  description:
    'address: the mailbox does not exist; temporary: it is full, or could not be reached; blocked: its server refuses mail from the service, or gave no reason',
})
const bounceStatus = Type.String({
  description: 'The enhanced status code of RFC 3463, such as 5.1.1; empty if unknown',
})
const scope = StringEnum(STOPPED_MAILS, {
  description: 'reminders: reminders and notices; all: invitations as well',
})
const kinds = Type.Array(StringEnum(MEDIA_KINDS), { description: 'Kinds of the deleted photos and recordings' })
const percent = Nullable(
  Type.Number({
    description: 'Percentage of the points, with two decimals at most; null if no question has points. Not in older events',
  }),
)
const reportUrl = Type.String({
  format: 'uri',
  description: "The result's page in the portal, with its report, for signed-in members who may see it. Not in older events",
})
const decision = StringEnum(DECISIONS, { description: 'The new decision; none if it was taken back' })
const source = StringEnum(INVITE_SOURCES, {
  description:
    'Who invited: an API key, a member in the portal, an import, a recruiting system, or an open link. Not in older events',
})
const changes = Type.Object(
  {
    tagIds: Type.Optional(Type.Object({ added: Type.Array(Uuid()), removed: Type.Array(Uuid()) })),
    assignedGraderId: Type.Optional(Type.Object({ before: Nullable(Uuid()), after: Nullable(Uuid()) })),
    expiresAt: Type.Optional(Type.Object({ before: DateTime(), after: DateTime() })),
    corrected: Type.Optional(
      Type.Array(StringEnum(['recipientName', 'customMessage', 'questionReplayLimit', 'answerRecordLimit']), {
        description: 'The corrected fields; read the invite for their values',
      }),
    ),
  },
  { [NAME]: 'InviteChanges', description: 'The changed fields only' },
)

/** Fields of each event type in addition to the invite. */
const ownData: { [T in EventType]: Record<Exclude<keyof EventData[T], keyof typeof inviteFields>, TSchema> } = {
  'invite.created': {
    mode: KeyMode,
    source: Type.Optional(source),
    retakeOf: Type.Optional(Uuid('For a retake, the earlier invite')),
  },
  'invite.accepted': { submissionId: Type.Optional(submissionId) },
  'invite.started': { submissionId: Type.Optional(submissionId) },
  'invite.completed': { submissionId: Type.Optional(submissionId) },
  'invite.declined': {},
  'invite.revoked': {},
  'invite.reactivated': { expiresAt },
  'invite.extended': { expiresAt },
  'invite.resent': {},
  'invite.updated': { changes },
  'invite.expired': {},
  'email.sent': { emailId },
  'email.failed': { emailId, reason },
  'email.bounced': { emailId, bounce, bounceStatus },
  'email.complained': { emailId },
  'email.unsubscribed': { scope },
  'reminder.sent': { emailId },
  'submission.released': { submissionId, percent: Type.Optional(percent), reportUrl: Type.Optional(reportUrl) },
  'submission.decided': { submissionId, decision },
  'submission.media_deleted': { submissionId, kinds },
  'invite.erased': {},
}

/** Description of each event type. */
export const EVENT_MEANINGS: Record<EventType | typeof TEST_EVENT, string> = {
  'invite.created': 'An invite was created',
  'invite.accepted': 'The candidate accepted',
  'invite.started': 'The candidate started',
  'invite.completed': 'The candidate submitted, or the time ran out',
  'invite.declined': 'The candidate declined: the status is revoked',
  'invite.revoked': 'The organization revoked the invite',
  'invite.reactivated': 'The organization reactivated the invite, with a new link',
  'invite.extended': 'The organization moved the expiry',
  'invite.resent': 'The organization sent the mail again',
  'invite.updated':
    'The organization changed tags, grader, name, message, or limits of the invite, or moved its expiry to an earlier time',
  'invite.expired': 'The invite expired',
  'email.sent': 'The mail server accepted a mail other than a reminder',
  'email.failed': 'A mail will not be sent',
  'email.bounced': 'A sent mail came back',
  'email.complained': 'The candidate marked a mail as spam',
  'email.unsubscribed': 'The candidate unsubscribed, from reminders and notices or from all mails',
  'reminder.sent': 'The mail server accepted a reminder',
  'submission.released': 'The result of a submission was released, or released again',
  'submission.decided': 'The organization decided about the candidate, or took a decision back',
  'submission.media_deleted': 'Photos or recordings were deleted',
  'invite.erased':
    'The candidate was erased: delete your copy. The invite is deleted with all its data, and its earlier events no longer have externalId and metadata',
  'webhook.test': 'A test of this webhook. It is not in the feed',
}

/** Data of any type, for the serializer, which drops other fields. The OpenAPI document distinguishes types. */
const AnyData = Type.Unsafe<FeedEvent['data']>(
  Type.Object({
    ...Type.Partial(Type.Object(Object.assign({}, inviteFields, ...Object.values(ownData)) as Record<string, TSchema>))
      .properties,
    inviteId: inviteFields.inviteId,
  }),
)

const envelope = <T extends TSchema, Data extends TSchema>(type: T, data: Data) => ({
  id: Uuid('The same in the feed and in webhooks'),
  type,
  position: Type.Integer({ description: 'Position in the feed: rises from event to event, not necessarily by one' }),
  createdAt: DateTime(),
  actor: Type.Object(
    { type: StringEnum(EVENT_ACTORS), id: Nullable(Uuid('Id of the API key or member')) },
    { [NAME]: 'EventActor', description: 'Who caused the event' },
  ),
  data,
})

const ids = {
  inviteId: '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e73',
  assessmentId: '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e71',
}
const example = {
  id: '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e76',
  type: 'invite.created',
  position: 4711,
  createdAt: '2026-03-02T09:30:00.000Z',
  actor: { type: 'api_key', id: '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e77' },
  data: { ...ids, status: 'pending', mode: 'live', source: 'api' },
}

/** Schema of an event of one type, for documents. */
const ofType = (type: EventType | typeof TEST_EVENT, data: Record<string, TSchema>): TObject =>
  Type.Object(envelope(StringEnum([type]), Type.Object(data)), {
    [NAME]: `${pascalCase(type)}Event`,
    description: EVENT_MEANINGS[type],
    ...(type === example.type && { examples: [example] }),
  })

/** A deleted resource has only an id. */
const sharedBy = (type: EventType) => (type === 'invite.erased' ? { inviteId: inviteFields.inviteId } : inviteFields)
const ofTypes = EVENT_TYPES.map((type) => ofType(type, { ...sharedBy(type), ...ownData[type] }))
const testEvent = ofType(TEST_EVENT, { endpointId: Uuid('Of the webhook') })

export const EventView = Type.Object(envelope(StringEnum(EVENT_TYPES), AnyData), {
  [DOCUMENTED_AS]: oneOfTypes('Event', 'type', ofTypes),
})

/** Schema of each webhook by its event type. */
export const webhookMessages: Record<string, TObject> = Object.fromEntries(
  [...ofTypes, testEvent].map((event) => [event.properties.type!.enum[0], event]),
)

/** Webhooks send the same JSON. */
export const presentEvent = (event: FeedEvent): Static<typeof EventView> => toEventJson(event)

import { type Static, type TObject, type TSchema, Type } from '@sinclair/typebox'
import {
  EMAIL_FAILURES,
  EVENT_ACTORS,
  EVENT_TYPES,
  type EventData,
  type EventType,
  MEDIA_KINDS,
  STOPPED_MAILS,
  TEST_EVENT,
} from '../../domain/events/event.ts'
import { type FeedEvent, showEvent } from '../../domain/events/feed.ts'
import { BOUNCES } from '../../domain/mails/classify-bounce.ts'
import { oneOfTypes, pascalCase } from '../../http/openapi/components.ts'
import { DateTime, InviteStatus, KeyMode, Metadata, Nullable, StringEnum, Uuid } from '../../http/schema/field-types.ts'
import { DOCUMENTED_AS, NAME } from '../../http/schema/schema-keywords.ts'

// Beyond v1.md: what has happened, for whoever keeps in step.

const ofInvite = {
  inviteId: Uuid(),
  assessmentId: Uuid(),
  status: InviteStatus,
  externalId: Type.Optional(Type.String({ description: 'What the caller calls the invite; only there if it was given' })),
  metadata: Type.Optional(Metadata('What the caller keeps with the invite; only there if it was given')),
}
const submissionId = Uuid('Of the submission; once the invite is started')
const expiresAt = DateTime('The new expiry')
const emailId = Uuid()
const reason = StringEnum(EMAIL_FAILURES, {
  description:
    'The link was dead before the mail went out, the mail server refused it for good, its retries were used up, or nothing is written to the address: see `GET /suppressions`',
})
const bounce = StringEnum(BOUNCES, {
  description:
    'address: there is no such mailbox; temporary: it is full, or could not be reached for now; blocked: its server wants no mail from the service, or did not say why',
})
const bounceStatus = Type.String({
  description: 'The enhanced status code of RFC 3463, such as 5.1.1; empty where none was given',
})
const scope = StringEnum(STOPPED_MAILS, {
  description: 'reminders: what comes by itself, reminders and notices; all: invitations as well',
})
const kinds = Type.Array(StringEnum(MEDIA_KINDS), { description: 'What the photos and recordings showed that are gone' })
const percent = Nullable(
  Type.Number({ description: 'Of the points, two decimals at most; null where no question gives any. Not in older events' }),
)
const reportUrl = Type.String({
  format: 'uri',
  description:
    "The result's page in the portal, with its report: for members who may see it, once they are signed in. Not in older events",
})
const changes = Type.Object(
  {
    tagIds: Type.Optional(Type.Object({ added: Type.Array(Uuid()), removed: Type.Array(Uuid()) })),
    assignedGraderId: Type.Optional(Type.Object({ before: Nullable(Uuid()), after: Nullable(Uuid()) })),
    expiresAt: Type.Optional(Type.Object({ before: DateTime(), after: DateTime() })),
    corrected: Type.Optional(
      Type.Array(StringEnum(['recipientName', 'customMessage', 'questionReplayLimit', 'answerRecordLimit']), {
        description: 'What was put right; read the invite for what it says now',
      }),
    ),
  },
  { [NAME]: 'InviteChanges', description: 'What is different now, and nothing else' },
)

/** Fields of each event type in addition to the invite. */
const ownData: { [T in EventType]: Record<Exclude<keyof EventData[T], keyof typeof ofInvite>, TSchema> } = {
  'invite.created': { mode: KeyMode, retakeOf: Type.Optional(Uuid('The invite before, of a retake')) },
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
  'submission.media_deleted': { submissionId, kinds },
  'invite.erased': {},
}

/** Description of each event type. */
export const EVENT_MEANINGS: Record<EventType | typeof TEST_EVENT, string> = {
  'invite.created': 'An invite was created',
  'invite.accepted': 'The candidate accepted',
  'invite.started': 'The candidate started',
  'invite.completed': 'The candidate handed in, or the time was up',
  'invite.declined': 'The candidate declined: the status is revoked',
  'invite.revoked': 'The organization revoked the invite',
  'invite.reactivated': 'The organization brought the invite back, with a new link',
  'invite.extended': 'The organization moved the expiry',
  'invite.resent': 'The organization had the mail sent again',
  'invite.updated': 'The organization changed something about the invite: tags, grader, name, message, or to an earlier expiry',
  'invite.expired': 'The time was up',
  'email.sent': 'The mail server accepted a mail that is no reminder',
  'email.failed': 'A mail will not be sent',
  'email.bounced': 'A mail that was sent came back',
  'email.complained': 'The candidate called a mail spam',
  'email.unsubscribed': 'The candidate wants no more mails: no reminders and notices, or none at all',
  'reminder.sent': 'The mail server accepted a reminder',
  'submission.released': 'The result of a submission was released, the first time or anew',
  'submission.media_deleted': 'Photos or recordings are gone',
  'invite.erased':
    'Whoever the invite was to was erased: it is gone, with all that hung on it, and earlier events of it hold neither externalId nor metadata any more',
  'webhook.test': 'Somebody had a test sent to this webhook. It is not in the feed',
}

/** The data of any type, for whoever writes an answer. Documents tell the types apart. */
const AnyData = Type.Object({
  ...Type.Partial(
    Type.Object({
      ...ofInvite,
      mode: KeyMode,
      submissionId,
      expiresAt,
      emailId,
      reason,
      bounce,
      bounceStatus,
      kinds,
      changes,
      percent,
      reportUrl,
      scope,
    }),
  ).properties,
  inviteId: ofInvite.inviteId,
})

const envelope = <T extends TSchema, Data extends TSchema>(type: T, data: Data) => ({
  id: Uuid('The same wherever the event is told'),
  type,
  position: Type.Integer({ description: 'Place in the feed: rises from event to event, not by one' }),
  createdAt: DateTime(),
  actor: Type.Object(
    { type: StringEnum(EVENT_ACTORS), id: Nullable(Uuid('Of the API key or member')) },
    { [NAME]: 'EventActor', description: 'Who made it happen' },
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
  data: { ...ids, status: 'pending', mode: 'live' },
}

/** An event of one type, as documents show it. */
const ofType = (type: EventType | typeof TEST_EVENT, data: Record<string, TSchema>): TObject =>
  Type.Object(envelope(StringEnum([type]), Type.Object(data)), {
    [NAME]: `${pascalCase(type)}Event`,
    description: EVENT_MEANINGS[type],
    ...(type === example.type && { examples: [example] }),
  })

/** A deleted resource has only an id. */
const sharedBy = (type: EventType) => (type === 'invite.erased' ? { inviteId: ofInvite.inviteId } : ofInvite)
const ofTypes = EVENT_TYPES.map((type) => ofType(type, { ...sharedBy(type), ...ownData[type] }))
const testEvent = ofType(TEST_EVENT, { endpointId: Uuid('Of the webhook') })

export const EventView = Type.Object(envelope(StringEnum(EVENT_TYPES), AnyData), {
  [DOCUMENTED_AS]: oneOfTypes('Event', 'type', ofTypes),
})

/** Schema of each webhook by its event type. */
export const webhookMessages: Record<string, TObject> = Object.fromEntries(
  [...ofTypes, testEvent].map((event) => [event.properties.type!.enum[0], event]),
)

/** Webhooks send the same. */
export const presentEvent = (event: FeedEvent): Static<typeof EventView> => showEvent(event)

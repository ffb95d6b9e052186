import type { Invite, InviteSource, InviteStatus, MediaKind } from '../../generated/prisma/client.ts'
import type { KeyMode } from '../context.ts'
import { omitUndefined } from '../fields/omit-undefined.ts'
import type { Bounce } from '../mails/classify-bounce.ts'

export const EVENT_TYPES = [
  'invite.created',
  'invite.accepted',
  'invite.started',
  'invite.completed',
  'invite.declined',
  'invite.revoked',
  'invite.reactivated',
  'invite.extended',
  'invite.resent',
  'invite.updated',
  'invite.expired',
  'email.sent',
  'email.failed',
  'email.bounced',
  'email.complained',
  'email.unsubscribed',
  'reminder.sent',
  'submission.released',
  'submission.decided',
  'submission.media_deleted',
  'invite.erased',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** Sent to one webhook to try it, under this type or another one, see domain/webhooks/deliveries.ts. It is not in the feed. */
export const TEST_EVENT = 'webhook.test'

/** Kinds of actors that cause events. */
export const EVENT_ACTORS = ['api_key', 'member', 'candidate', 'system'] as const
export type EventActor = (typeof EVENT_ACTORS)[number]

/** Why a mail failed: its link was dead before it went out, the mail server refused it for good, its retries were used up, or nothing is written to its address. */
export const EMAIL_FAILURES = ['obsolete', 'refused', 'given_up', 'suppressed'] as const
export type EmailFailure = (typeof EMAIL_FAILURES)[number]

/** Mails that a candidate has stopped: all, or reminders and notices. */
export const STOPPED_MAILS = ['all', 'reminders'] as const
export type StoppedMails = (typeof STOPPED_MAILS)[number]

export const MEDIA_KINDS = ['answer', 'id_photo', 'face_photo', 'webcam_still', 'webcam', 'screen'] as const satisfies MediaKind[]

/** State of the invite after the event. Optional fields are left out if the invite has no value. */
type InvitePayload = {
  inviteId: string
  assessmentId: string
  status: InviteStatus
  externalId?: string
  metadata?: Record<string, string>
}
/** Database column of each field. */
const INVITE_PAYLOAD_COLUMNS = {
  inviteId: 'id',
  assessmentId: 'assessmentId',
  status: 'status',
  externalId: 'externalId',
  metadata: 'metadata',
} as const satisfies Record<keyof InvitePayload, keyof Invite>
type EventColumn = (typeof INVITE_PAYLOAD_COLUMNS)[keyof InvitePayload]
/** Fields of an invite in every event. */
export const mapInvitePayload = <Value>(readColumn: (column: EventColumn) => Value): Record<keyof InvitePayload, Value> => {
  const payloadColumns = Object.entries(INVITE_PAYLOAD_COLUMNS).map(([name, column]) => [name, readColumn(column)])
  return Object.fromEntries(payloadColumns)
}
/** There is one once the invite is started. */
type Submission = { submissionId?: string }
/** An ISO time. */
type Expiry = { expiresAt: string }
/** Changed fields other than the status; at least one. */
export type InviteChanges = {
  tagIds?: { added: string[]; removed: string[] }
  assignedGraderId?: { before: string | null; after: string | null }
  /** ISO times: it expires earlier now. */
  expiresAt?: { before: string; after: string }
  /** Names of corrected fields. Readers fetch the values. */
  corrected?: ('recipientName' | 'customMessage' | 'questionReplayLimit' | 'answerRecordLimit')[]
}

/** Summary of a result. `percent` has at most two decimals, and is null without points. `reportUrl` requires a sign-in. */
type ResultPayload = { percent: number | null; reportUrl: string }

/** The organization's decisions about a candidate. */
export const DECISIONS = ['none', 'shortlist', 'hold', 'reject', 'advance'] as const
export type Decision = (typeof DECISIONS)[number]

/** Reason for a bounce, as an RFC 3463 code; empty if the server gave none. */
type BouncePayload = { bounce: Bounce; bounceStatus: string }

/**
 * Data of events by type: ids, statuses, figures, and caller data of the invite. No names, addresses, or secret links: readers
 * with permission fetch those.
 */
export type EventData = {
  'invite.created': InvitePayload & { mode: KeyMode; source: InviteSource; retakeOf?: string }
  'invite.accepted': InvitePayload & Submission
  'invite.started': InvitePayload & Submission
  'invite.completed': InvitePayload & Submission
  'invite.declined': InvitePayload
  'invite.revoked': InvitePayload
  'invite.reactivated': InvitePayload & Expiry
  'invite.extended': InvitePayload & Expiry
  'invite.resent': InvitePayload
  'invite.updated': InvitePayload & { changes: InviteChanges }
  'invite.expired': InvitePayload
  'email.sent': InvitePayload & { emailId: string }
  'email.failed': InvitePayload & { emailId: string; reason: EmailFailure }
  'email.bounced': InvitePayload & BouncePayload & { emailId: string }
  'email.complained': InvitePayload & { emailId: string }
  'email.unsubscribed': InvitePayload & { scope: StoppedMails }
  'reminder.sent': InvitePayload & { emailId: string }
  'submission.released': InvitePayload & ResultPayload & { submissionId: string }
  'submission.decided': InvitePayload & { submissionId: string; decision: Decision }
  'submission.media_deleted': InvitePayload & { submissionId: string; kinds: MediaKind[] }
  'invite.erased': Pick<InvitePayload, 'inviteId'>
}

/** Fields of all event types. All events of an invite but the last have its status. */
export type EventPayload = Pick<InvitePayload, 'inviteId'> &
  Partial<InvitePayload> &
  Submission &
  Partial<Expiry> &
  Partial<BouncePayload> &
  Partial<ResultPayload> & {
    mode?: KeyMode
    source?: InviteSource
    retakeOf?: string
    emailId?: string
    reason?: EmailFailure
    kinds?: MediaKind[]
    decision?: Decision
    changes?: InviteChanges
    scope?: StoppedMails
  }
export type TestEventPayload = { endpointId: string }
/** Types that a webhook can be sent as a test. */
export const TESTED_TYPES = [TEST_EVENT, ...EVENT_TYPES] as const
export type TestedType = (typeof TESTED_TYPES)[number]

type EventOf<Type extends EventType> = { type: Type; organizationId: string; mode: KeyMode; data: EventData[Type] }
/** The caller chooses the id. */
type NewTestEvent = {
  id: string
  type: typeof TEST_EVENT
  organizationId: string
  mode: KeyMode
  testedType: EventType | null
  data: TestEventPayload | EventData[EventType]
}
/** An event to record. The context has its actor and time. */
export type NewEvent = { [Type in EventType]: EventOf<Type> }[EventType] | NewTestEvent

const EVENT_COLUMN_NAMES = [
  ...Object.values(INVITE_PAYLOAD_COLUMNS),
  'organizationId',
  'mode',
  'assessmentSession',
  'expiresAt',
] as const
/** Columns of an invite that events contain. */
export type EventInvite = Pick<Invite, (typeof EVENT_COLUMN_NAMES)[number]>
/** The columns of that. */
export const EVENT_COLUMNS = EVENT_COLUMN_NAMES.map((column) => `invites.${column}` as const)

export type CreateInviteEvent = (invite: EventInvite) => NewEvent

export const inviteCreated = (invite: EventInvite & { source: InviteSource; retakeOf?: string }): NewEvent =>
  createEvent('invite.created', invite, {
    ...state(invite),
    mode: invite.mode,
    source: invite.source,
    ...omitUndefined({ retakeOf: invite.retakeOf }),
  })

export const inviteEvents = {
  accepted: (invite) => createEvent('invite.accepted', invite, { ...state(invite), ...submission(invite) }),
  started: (invite) => createEvent('invite.started', invite, { ...state(invite), ...submission(invite) }),
  completed: (invite) => createEvent('invite.completed', invite, { ...state(invite), ...submission(invite) }),
  declined: (invite) => createEvent('invite.declined', invite, state(invite)),
  revoked: (invite) => createEvent('invite.revoked', invite, state(invite)),
  reactivated: (invite) => createEvent('invite.reactivated', invite, { ...state(invite), ...expiry(invite) }),
  extended: (invite) => createEvent('invite.extended', invite, { ...state(invite), ...expiry(invite) }),
  resent: (invite) => createEvent('invite.resent', invite, state(invite)),
  expired: (invite) => createEvent('invite.expired', invite, state(invite)),
} satisfies Record<string, CreateInviteEvent>

export const inviteUpdated = (invite: EventInvite, changes: InviteChanges): NewEvent =>
  createEvent('invite.updated', invite, { ...state(invite), changes })

/** The result of a submission was released, for the first time or again. */
export const resultReleased = (invite: EventInvite, submissionId: string, { percent, reportUrl }: ResultPayload): NewEvent =>
  createEvent('submission.released', invite, { ...state(invite), submissionId, percent, reportUrl })

/** The organization decided about the candidate, or took a decision back. */
export const submissionDecided = (invite: EventInvite, submissionId: string, decision: Decision): NewEvent =>
  createEvent('submission.decided', invite, { ...state(invite), submissionId, decision })

/** Photos or recordings of a submission of the invite are gone. */
export const mediaDeleted = (invite: EventInvite, submissionId: string, kinds: MediaKind[]): NewEvent =>
  createEvent('submission.media_deleted', invite, { ...state(invite), submissionId, kinds })

/** The candidate wants no more mails of the organization. */
export const mailsStopped = (invite: EventInvite, scope: StoppedMails): NewEvent =>
  createEvent('email.unsubscribed', invite, { ...state(invite), scope })

/** The candidate was erased, and the invite with them. */
export const inviteErased = ({ id, organizationId, mode }: Pick<Invite, 'id' | 'organizationId' | 'mode'>): NewEvent => ({
  type: 'invite.erased',
  organizationId,
  mode,
  data: { inviteId: id },
})

/** Fields with caller data, which may name somebody. */
export const CALLER_DATA_FIELDS = ['externalId', 'metadata'] as const satisfies (keyof InvitePayload)[]

/** Events of a mail. */
export type EmailEvent =
  | { type: 'email.sent' }
  | { type: 'reminder.sent' }
  | { type: 'email.failed'; reason: EmailFailure }
  | ({ type: 'email.bounced' } & BouncePayload)
  | { type: 'email.complained' }

const createEvent = <Type extends EventType>(
  type: Type,
  { organizationId, mode }: EventInvite,
  data: EventData[Type],
): EventOf<Type> => ({ type, organizationId, mode, data })

const state = (invite: EventInvite): InvitePayload =>
  omitUndefined(mapInvitePayload((column) => invite[column] ?? undefined)) as InvitePayload
const submission = ({ assessmentSession }: EventInvite): Submission =>
  assessmentSession === null ? {} : { submissionId: assessmentSession }
const expiry = ({ expiresAt }: EventInvite): Expiry => ({ expiresAt: expiresAt.toISOString() })

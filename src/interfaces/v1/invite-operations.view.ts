import { type Static, Type } from '@sinclair/typebox'
import type { InviteEdits } from '../../domain/invites/correct-invite.ts'
import { type ListedEmail, SHOWN_EMAIL_STATES, shownEmailState } from '../../domain/invites/emails.ts'
import type { InvitationLink } from '../../domain/invites/invitation-link.ts'
import type { InviteDetail } from '../../domain/invites/invites.ts'
import { type PlannedReminder, SKIP_REASONS } from '../../domain/invites/reminders/plan-reminders.ts'
import { ANCHORS } from '../../domain/invites/reminders/reminder-steps.ts'
import {
  COUNTS,
  DEFAULT_EXPIRES_IN_DAYS,
  EXPIRY_DAYS,
  EXTRA_TIME_PERCENT,
  MAX_INVITE_TAGS,
  MAX_MESSAGE_LENGTH,
  MAX_NAME_LENGTH,
} from '../../domain/limits.ts'
import { CANDIDATE_MAIL_KINDS, type CandidateMailKind } from '../../domain/mails/candidate-mails.ts'
import { BOUNCES, type Bounce } from '../../domain/mails/classify-bounce.ts'
import {
  DateTime,
  InviteStatus,
  isoTime,
  isoTimeOrNull,
  Nullable,
  StringEnum,
  Text,
  Uuid,
} from '../../http/schema/field-types.ts'
import { NAME } from '../../http/schema/schema-keywords.ts'

// Beyond v1.md: operations on existing invites.

const Days = (options: object) => Type.Integer({ ...EXPIRY_DAYS, ...options })

export const ExtensionBody = Type.Object(
  { expiresInDays: Days({ description: 'Days from now until the invite expires' }) },
  { [NAME]: 'Extension', examples: [{ expiresInDays: 2 * DEFAULT_EXPIRES_IN_DAYS }] },
)

export const ReactivationBody = Type.Object(
  {
    expiresInDays: Type.Optional(
      Days({ default: DEFAULT_EXPIRES_IN_DAYS, description: 'Days from now until the invite expires' }),
    ),
    afterDecline: Type.Optional(Type.Boolean({ default: false, description: 'Whether to invite a candidate who has declined' })),
  },
  { [NAME]: 'Reactivation', examples: [{ expiresInDays: 14 }] },
)

export const RetakeBody = Type.Object(
  {
    expiresInDays: Type.Optional(
      Days({ default: DEFAULT_EXPIRES_IN_DAYS, description: 'Days from now until the new invite expires' }),
    ),
    sendEmail: Type.Optional(Type.Boolean({ default: true, description: 'false: no mail is sent; deliver the link yourself' })),
  },
  { [NAME]: 'Retake', examples: [{ expiresInDays: 14 }] },
)

const Limit = (description: string) => Type.Optional(Type.Integer({ ...COUNTS, description }))

/** Changes of an invite. Omitted fields stay unchanged. */
export const InviteChangeBody = Type.Object(
  {
    recipientName: Type.Optional(
      Nullable(Text({ maxLength: MAX_NAME_LENGTH, description: "Candidate's name. Only while the invite is pending" })),
    ),
    customMessage: Type.Optional(
      Text({
        maxLength: MAX_MESSAGE_LENGTH,
        description: 'Included in the mail when it is resent. Only while the invite is pending',
      }),
    ),
    questionReplayLimit: Limit('Max replays of each question. Only while the invite is pending'),
    answerRecordLimit: Limit('Max recording attempts per answer. Only while the invite is pending'),
    expiresInDays: Type.Optional(
      Days({ description: 'Days from now until it expires; may be earlier than before. Only while it is pending or accepted' }),
    ),
    assignedGraderId: Type.Optional(
      Nullable(Uuid('Who will review the submission: an active member with the role grader or admin')),
    ),
    tagIds: Type.Optional(
      Type.Array(Uuid(), {
        maxItems: MAX_INVITE_TAGS,
        description: 'The complete list of tags: others are removed. Existing tags keep their order',
      }),
    ),
  },
  { [NAME]: 'InviteChange', minProperties: 1, examples: [{ recipientName: 'Sam Rivera', expiresInDays: 14 }] },
)

export const toEdits = (body: Static<typeof InviteChangeBody>): InviteEdits => ({
  recipientName: body.recipientName,
  customMessage: body.customMessage,
  questionReplayLimit: body.questionReplayLimit,
  answerRecordLimit: body.answerRecordLimit,
  expiresInDays: body.expiresInDays,
  assignedGraderId: body.assignedGraderId,
  tagIds: body.tagIds,
})

/** Accommodations of one candidate. */
export const AccommodationsBody = Type.Object(
  {
    extraTimePercent: Type.Integer({
      ...EXTRA_TIME_PERCENT,
      description: 'Extra time for each question and for the whole assessment, in percent of the limits',
    }),
  },
  { [NAME]: 'Accommodations', examples: [{ extraTimePercent: 50 }] },
)

export const presentAccommodations = ({ extraTimePercent }: InviteDetail): Static<typeof AccommodationsBody> => ({
  extraTimePercent,
})

/** Mail queued or sent for an invite. */
export const InviteEmailView = Type.Object(
  {
    id: Uuid(),
    status: StringEnum(SHOWN_EMAIL_STATES, {
      description:
        'queued: not accepted by the mail server yet; delayed: waiting because of a daily limit; sent: accepted; failed: refused permanently; captured: stored instead of sent, as for test keys',
    }),
    attempts: Type.Integer({ description: 'Attempts to send it so far' }),
    reason: Type.String({ description: "The mail server's message if the last attempt failed; otherwise empty" }),
    createdAt: DateTime(),
    sentAt: Nullable(DateTime('When the mail server accepted it')),
  },
  {
    [NAME]: 'InviteEmail',
    examples: [
      {
        id: '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e74',
        status: 'failed',
        attempts: 1,
        reason: '550 5.1.1 No such user',
        createdAt: '2026-03-02T09:30:00.000Z',
        sentAt: null,
      },
    ],
  },
)

export const presentInviteEmail = (email: ListedEmail, now: Date): Static<typeof InviteEmailView> => ({
  id: email.id,
  status: shownEmailState(email, now),
  attempts: email.attempts,
  reason: email.reason,
  createdAt: isoTime(email.createdAt),
  sentAt: isoTimeOrNull(email.sentAt),
})

/** Includes delivery states after the mail server accepted the mail. */
export const InviteMessageView = Type.Object(
  {
    ...InviteEmailView.properties,
    kind: StringEnum(CANDIDATE_MAIL_KINDS, {
      description:
        'invitation, resent, reactivated: sent by a member or key; not_accepted, not_started, not_finished: a reminder; submitted: a receipt; released: notice of a result; withdrawn: notice that the invite was revoked',
    }),
    language: Nullable(Type.String({ description: 'Language of the mail; null: not sent yet, or unknown' })),
    suppressed: Type.Boolean({
      description: 'Whether it failed because the address gets no mails: see `GET /suppressions`',
    }),
    bounce: Nullable(
      Type.Object(
        {
          kind: StringEnum(BOUNCES, {
            description:
              'address: the mailbox does not exist; temporary: it could not be reached; blocked: its server refuses mail from the service',
          }),
          status: Type.String({ description: 'The enhanced status code of RFC 3463; empty if unknown' }),
          reason: Type.String({ description: "The server's message" }),
          at: DateTime(),
        },
        { [NAME]: 'Bounce' },
      ),
    ),
    complainedAt: Nullable(DateTime('When the candidate marked it as spam')),
  },
  {
    [NAME]: 'InviteMessage',
    examples: [
      {
        id: '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e74',
        status: 'sent',
        attempts: 1,
        reason: '',
        createdAt: '2026-03-02T09:30:00.000Z',
        sentAt: '2026-03-02T09:30:01.000Z',
        kind: 'invitation',
        language: 'en',
        suppressed: false,
        bounce: { kind: 'address', status: '5.1.1', reason: '550 5.1.1 No such user', at: '2026-03-02T09:31:00.000Z' },
        complainedAt: null,
      },
    ],
  },
)

export function presentInviteMessage(email: ListedEmail, now: Date): Static<typeof InviteMessageView> {
  const { bounce, bounceStatus, bounceReason, bouncedAt, complainedAt } = email
  const kind = bounce as Bounce
  return {
    ...presentInviteEmail(email, now),
    kind: email.kind as CandidateMailKind,
    language: email.language,
    suppressed: email.failure === 'suppressed',
    bounce: bouncedAt ? { kind, status: bounceStatus ?? '', reason: bounceReason ?? '', at: isoTime(bouncedAt) } : null,
    complainedAt: isoTimeOrNull(complainedAt),
  }
}

/** A reminder that was not queued. */
export const PlannedReminderView = Type.Object(
  {
    after: StringEnum(ANCHORS, { description: 'Event that its time depends on' }),
    hours: Type.Integer({ description: 'After or before that event' }),
    at: DateTime('When it will be sent, or was due'),
    skipped: Nullable(
      StringEnum(SKIP_REASONS, {
        description:
          'Why it was skipped; null: it is planned. off: no reminders for this invite; earlier: the invite was sent before reminders were switched on; moved_on: the invite has another state by now; stopped: the address gets no reminders; too_late: due for more than a week; replaced: a later one is due; enough: three were sent; ends: less than an hour before the end',
      }),
    ),
  },
  { [NAME]: 'PlannedReminder', examples: [{ after: 'sent', hours: 72, at: '2026-03-05T09:30:00.000Z', skipped: null }] },
)

export const presentPlannedReminder = ({ step, at, skipped }: PlannedReminder): Static<typeof PlannedReminderView> => ({
  after: step.after,
  hours: step.hours,
  at: isoTime(at),
  skipped,
})

/** Candidate's link and its expiry. */
export const InviteLinkView = Type.Object(
  {
    link: Type.String({ format: 'uri', description: "Address of the candidate's page" }),
    status: InviteStatus,
    expiresAt: DateTime('When the invite expires'),
  },
  {
    [NAME]: 'InviteLink',
    examples: [
      {
        link: 'https://assessments.example.com/i/AZej8mwee1KdCj8cK01ecwABd3dDkVYVbm9Tf1sVbF5Qbg',
        status: 'pending',
        expiresAt: '2026-04-01T09:30:00.000Z',
      },
    ],
  },
)

export const presentInviteLink = ({ link, status, expiresAt }: InvitationLink): Static<typeof InviteLinkView> => ({
  link,
  status,
  expiresAt: isoTime(expiresAt),
})

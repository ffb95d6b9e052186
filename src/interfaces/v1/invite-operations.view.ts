import { type Static, Type } from '@sinclair/typebox'
import { type InviteEmailRow, SHOWN_EMAIL_STATES, shownEmailState } from '../../domain/invites/emails.ts'
import type { InvitationLink } from '../../domain/invites/invitation-link.ts'
import { DEFAULT_EXPIRES_IN_DAYS, EXPIRY_DAYS } from '../../domain/limits.ts'
import { DateTime, InviteStatus, isoTime, isoTimeOrNull, OrNull, Uuid, Words } from '../../http/schema/field-types.ts'
import { NAME } from '../../http/schema/schema-keywords.ts'

// Beyond v1.md: what an organization does with an invite it has made.

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
    afterDecline: Type.Optional(
      Type.Boolean({ default: false, description: 'Whether a candidate who has declined is to be invited again' }),
    ),
  },
  { [NAME]: 'Reactivation', examples: [{ expiresInDays: 14 }] },
)

/** One sending of an invite's mail. */
export const InviteEmailView = Type.Object(
  {
    id: Uuid(),
    status: Words(SHOWN_EMAIL_STATES, {
      description:
        'queued: not accepted by the mail server yet; delayed: waits, because enough mails were sent for a day; sent: accepted; failed: refused for good; captured: never sent, as the mail of a test key',
    }),
    attempts: Type.Integer({ description: 'Attempts to send it so far' }),
    reason: Type.String({ description: "The mail server's words when the last attempt failed; empty otherwise" }),
    createdAt: DateTime(),
    sentAt: OrNull(DateTime('When the mail server accepted it')),
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

export const presentInviteEmail = (email: InviteEmailRow, now: Date): Static<typeof InviteEmailView> => ({
  id: email.id,
  status: shownEmailState(email, now),
  attempts: email.attempts,
  reason: email.reason,
  createdAt: isoTime(email.createdAt),
  sentAt: isoTimeOrNull(email.sentAt),
})

/** The candidate's link, with what it leads to. */
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

// Kinds of mails to candidates. src/mail has their texts, and invites/suppressions.ts decides who may receive them.

/** Invitation, resent invitation, and invitation after reactivation. Each was requested by somebody. */
export const INVITATION_KINDS = ['invitation', 'resent', 'reactivated'] as const
/** Reminders while an invite is open, by what the candidate has not done yet. */
export const REMINDER_KINDS = ['not_accepted', 'not_started', 'not_finished'] as const
/** Sent once: a receipt of the submission, and a notice of the result. */
export const NOTICE_KINDS = ['submitted', 'released'] as const
/** Sent when a member withdraws an invite and asks for it. */
export const WITHDRAWAL_KIND = 'withdrawn'
export const CANDIDATE_MAIL_KINDS = [...INVITATION_KINDS, ...REMINDER_KINDS, ...NOTICE_KINDS, WITHDRAWAL_KIND] as const

/** Kinds whose text organizations can replace. Resent and reactivated invitations use `invitation`. */
export const TEMPLATE_KINDS = ['invitation', ...REMINDER_KINDS, ...NOTICE_KINDS] as const

export type TemplateKind = (typeof TEMPLATE_KINDS)[number]
export type InvitationKind = (typeof INVITATION_KINDS)[number]
export type ReminderKind = (typeof REMINDER_KINDS)[number]
export type NoticeKind = (typeof NOTICE_KINDS)[number]
export type CandidateMailKind = (typeof CANDIDATE_MAIL_KINDS)[number]

const isOneOf =
  <Kind extends string>(kinds: readonly Kind[]) =>
  (kind: string): kind is Kind =>
    (kinds as readonly string[]).includes(kind)

export const isInvitation = isOneOf(INVITATION_KINDS)
export const isReminder = isOneOf(REMINDER_KINDS)
export const isNotice = isOneOf(NOTICE_KINDS)

/** True for mails that an organization has to switch on, and that the recipient can stop with a click. */
export const isAutomatic = (kind: string): boolean => isReminder(kind) || isNotice(kind)

/** Kind of the text of a mail; null for a kind that only a newer release knows. */
export const templateKindOf = (kind: string): TemplateKind | null =>
  isInvitation(kind) ? 'invitation' : isReminder(kind) || isNotice(kind) ? kind : null

// The kinds of mails to candidates, in one place: what each says, src/mail knows; who may be written to, invites/suppressions.ts.

/** The invitation, that once more, and that of an invite which is open again: each was asked for by somebody. */
export const INVITATION_KINDS = ['invitation', 'resent', 'reactivated'] as const
/** What comes by itself while an invite is open, by what the candidate has not done yet. */
export const REMINDER_KINDS = ['not_accepted', 'not_started', 'not_finished'] as const
/** What comes once: a receipt of what was handed in, and that there is a result. */
export const NOTICE_KINDS = ['submitted', 'released'] as const
/** Sent when a member withdraws an invite and asks for it. */
export const WITHDRAWAL_KIND = 'withdrawn'
export const CANDIDATE_MAIL_KINDS = [...INVITATION_KINDS, ...REMINDER_KINDS, ...NOTICE_KINDS, WITHDRAWAL_KIND] as const

/** What organizations can write themselves. Once more, or open again, an invitation has the same text. */
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

/** What its readers can stop by a click, and which is on only where somebody has switched it on. */
export const comesByItself = (kind: string): boolean => isReminder(kind) || isNotice(kind)

/** Which text a mail has; null of a kind that only a newer release knows. */
export const templateKindOf = (kind: string): TemplateKind | null =>
  isInvitation(kind) ? 'invitation' : isReminder(kind) || isNotice(kind) ? kind : null

import type { SkipReason } from '../../../domain/invites/reminders/plan-reminders.ts'
import type { ReminderStep } from '../../../domain/invites/reminders/reminder-steps.ts'
import { CANDIDATE_MAIL_KINDS, type CandidateMailKind, type ReminderKind } from '../../../domain/mails/candidate-mails.ts'

export const REMINDER_LABELS: Record<ReminderKind, string> = {
  not_accepted: 'not accepted yet',
  not_started: 'not started yet',
  not_finished: 'not submitted yet',
}

const MAIL_WORDS: Record<CandidateMailKind, string> = {
  invitation: 'Invitation',
  resent: 'Invitation, sent again',
  reactivated: 'Invitation, reactivated',
  not_accepted: `Reminder: ${REMINDER_LABELS.not_accepted}`,
  not_started: `Reminder: ${REMINDER_LABELS.not_started}`,
  not_finished: `Reminder: ${REMINDER_LABELS.not_finished}`,
  submitted: 'Receipt',
  released: 'Notice of the result',
  withdrawn: 'Invite revoked',
}

/** Kinds of mail sent by a newer release are shown as they are. */
export const labelMail = (kind: string): string => MAIL_WORDS[CANDIDATE_MAIL_KINDS.find((known) => known === kind)!] ?? kind

export const SKIPPED_LABELS: Record<SkipReason, string> = {
  off: 'reminders are off for this invite',
  earlier: 'invited before reminders were switched on',
  moved_on: 'the candidate has already taken the next step',
  stopped: 'the address is blocked or has stopped reminders',
  too_late: 'it was due more than a week ago',
  replaced: 'a later reminder replaces it',
  enough: 'three reminders were sent already',
  ends: 'the invite ends within an hour',
}

/** "72 hours after the invitation". */
export function formatStep({ after, hours }: ReminderStep): string {
  const many = hours % 24 === 0 ? `${hours / 24} ${hours === 24 ? 'day' : 'days'}` : `${hours} ${hours === 1 ? 'hour' : 'hours'}`
  if (after === 'before_expiry') return `${many} before it expires`
  return after === 'sent' ? `${many} after the invitation` : `${many} after the start`
}

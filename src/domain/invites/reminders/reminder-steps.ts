import type { InviteStatus, ReminderRule } from '../../../generated/prisma/client.ts'
import { REMINDER_KINDS, type ReminderKind } from '../../mails/candidate-mails.ts'
import { HOUR_MS } from '../../time/days.ts'

// Steps of a reminder rule, and their times for one invite. The statement that finds due reminders,
// db/statements-by-hand/due-reminders.ts, implements the same.

export type { ReminderRule }

export const ANCHORS = ['sent', 'started', 'before_expiry'] as const
export type Anchor = (typeof ANCHORS)[number]
export const REMINDED_STATES = ['pending', 'accepted', 'started'] as const satisfies InviteStatus[]
export type RemindedState = (typeof REMINDED_STATES)[number]
/** A reminder so many hours after the invitation was sent, or the assessment started, or before the invite expires, for invites in these states. */
export type ReminderStep = { after: Anchor; hours: number; states: RemindedState[] }

/** States of an invite that each anchor supports. Started invites don't expire. */
export const STATES_OF: Record<Anchor, readonly RemindedState[]> = {
  sent: ['pending', 'accepted', 'started'],
  started: ['started'],
  before_expiry: ['pending', 'accepted'],
}

export const MAX_STEPS = 4
/** A year. */
export const STEP_HOURS = { minimum: 1, maximum: 8_760 }
/** Reminders of one invite, until it is reactivated. */
export const MAX_REMINDERS = 3
/** Between two emails of an organization to one address. */
export const MIN_MAIL_INTERVAL_MS = 24 * HOUR_MS
/** Reminders that are overdue by more are skipped. */
export const MAX_DELAY_MS = 7 * 24 * HOUR_MS
export const MIN_BEFORE_EXPIRY_MS = HOUR_MS

/** Start of a rule that also applies to existing invites. */
export const ALWAYS_ACTIVE = new Date(0)

export const stepsOf = ({ steps }: Pick<ReminderRule, 'steps'>): ReminderStep[] => steps as ReminderStep[]

export const reminderKindOf = (state: RemindedState): ReminderKind => REMINDER_KINDS[REMINDED_STATES.indexOf(state)]!
export const isRemindedState = (status: InviteStatus): status is RemindedState =>
  (REMINDED_STATES as readonly string[]).includes(status)

type Timed = { sentAt: Date; startedAt: Date | null; expiresAt: Date; linkVersion: number }

/** Due time of a step; null if its anchor has no time. */
export function dueAt({ after, hours }: ReminderStep, { sentAt, startedAt, expiresAt }: Timed): Date | null {
  if (after === 'started') return startedAt && new Date(startedAt.getTime() + hours * HOUR_MS)
  return after === 'sent' ? new Date(sentAt.getTime() + hours * HOUR_MS) : new Date(expiresAt.getTime() - hours * HOUR_MS)
}

/**
 * Unique key of a reminder: its step, the link version, which a reactivation raises, and before the expiry its date, so that an
 * extension sends it again.
 */
export const dedupeKeyOf = ({ after, hours }: ReminderStep, { linkVersion, expiresAt }: Timed): string =>
  ['reminder', after, hours, linkVersion, ...(after === 'before_expiry' ? [expiresAt.getTime()] : [])].join(':')

/** The assessment's rule, else the organization's. */
export const ruleFor = <Rule extends Pick<ReminderRule, 'organizationId' | 'assessmentId'>>(
  rules: readonly Rule[],
  { organizationId, assessmentId }: { organizationId: string; assessmentId: string },
): Rule | undefined => {
  const rulesOfOrganization = rules.filter((rule) => rule.organizationId === organizationId)
  return (
    rulesOfOrganization.find((rule) => rule.assessmentId === assessmentId) ??
    rulesOfOrganization.find((rule) => rule.assessmentId === null)
  )
}

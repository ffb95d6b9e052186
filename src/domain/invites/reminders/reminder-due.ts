import { sql } from '../../../db/builder.ts'
import type { SqlBool } from '../../../db/queries.ts'
import { tenantDb } from '../../../db/tenant-db.ts'
import { loadZones } from '../../concurrency/load-zones.ts'
import type { ServiceContext } from '../../context.ts'
import { isNotice, isReminder, type NoticeKind, type ReminderKind } from '../../mails/candidate-mails.ts'
import { zoneOf } from '../../time/zones.ts'
import { isNoticeEnabled } from '../queue-notice.ts'
import type { InviteEmail } from '../read-emails.ts'
import {
  dedupeKeyOf,
  isRemindedState,
  MIN_BEFORE_EXPIRY_MS,
  MIN_MAIL_INTERVAL_MS,
  type ReminderRule,
  reminderKindOf,
  ruleFor,
  stepsOf,
} from './reminder-steps.ts'
import { nextInWindow, type QuietTimes } from './sending-window.ts'

/** Reason not to send a queued automatic email; null: send it. Checked right before sending, hours after queueing. */
export function findOutdatedReason(email: InviteEmail, now: Date): string | null {
  const { kind } = email
  if (isNotice(kind)) return findNoticeProblem(kind, email)
  return isReminder(kind) ? findReminderProblem(kind, email, now) : null
}

function findNoticeProblem(kind: NoticeKind, { invite, byItself }: InviteEmail): string | null {
  if (!isNoticeEnabled(kind, invite)) return 'Not sent: these notices were switched off.'
  return kind === 'released' && !byItself?.isShown ? 'Not sent: the result is not shown to the candidate.' : null
}

function findReminderProblem(kind: ReminderKind, { invite, byItself, dedupeKey }: InviteEmail, now: Date): string | null {
  const { status } = invite
  if (invite.remindersOff) return 'Not sent: there are no reminders for this invite.'
  const rule = ruleFor(byItself?.rules ?? [], invite)
  if (!rule?.activeSince || invite.sentAt < rule.activeSince) return 'Not sent: reminders were switched off.'
  if (!isRemindedState(status) || kind !== reminderKindOf(status)) return 'Not sent: the candidate has gone on meanwhile.'
  const step = stepsOf(rule).find((candidate) => dedupeKeyOf(candidate, invite) === dedupeKey)
  if (!step?.states.includes(status)) return 'Not sent: the rule for reminders or the expiry has changed.'
  const end = status === 'started' ? byItself?.deadlineAt : invite.expiresAt
  return end && end.getTime() <= now.getTime() + MIN_BEFORE_EXPIRY_MS ? 'Not sent: it ends within an hour.' : null
}

/** When nothing is sent by a rule. @param isEnd whether it is about the end, which waits for no day off. */
export const toQuietTimes = (
  { quietFrom, quietUntil, onDaysOff }: Pick<ReminderRule, 'quietFrom' | 'quietUntil' | 'onDaysOff'>,
  weekDaysOff: readonly number[],
  isEnd: boolean,
): QuietTimes => ({ quietFrom, quietUntil, daysOff: onDaysOff || isEnd ? [] : weekDaysOff })

/**
 * Until when a reminder waits that may not go out now: outside of its hours, or too soon after another mail to its address; null: it may. It
 * is asked when it is its turn, which may come late.
 */
export async function findReminderDelay(system: ServiceContext, email: InviteEmail): Promise<Date | null> {
  const { invite, byItself, dedupeKey } = email
  const rule = ruleFor(byItself?.rules ?? [], invite)
  if (!isReminder(email.kind) || !rule) return null
  const now = system.deps.clock()
  const last = await findLastSent(system, email, now)
  const free = last ? new Date(last.getTime() + MIN_MAIL_INTERVAL_MS) : now
  await loadZones(system.db, [zoneOf(invite)])
  const isEnd = dedupeKey?.startsWith('reminder:before_expiry:') ?? false
  const sendsAt = nextInWindow(toQuietTimes(rule, invite.organization.weekDaysOff, isEnd), zoneOf(invite), free) ?? free
  return sendsAt > now ? sendsAt : null
}

/** When something was last sent to its address, within the time that mails are apart. */
async function findLastSent({ db }: ServiceContext, { organizationId, invite }: InviteEmail, now: Date) {
  const { mode, recipientEmail } = invite
  const mails = tenantDb(db, { organization: { id: organizationId }, mode: 'all' })
    .selectFrom('inviteEmails')
    .innerJoin(
      tenantDb(db, { organization: { id: organizationId }, mode: 'all' }).table('invites'),
      'invites.id',
      'inviteEmails.inviteId',
    )
    .where('invites.mode', '=', mode)
    .where(({ ref }) => sql<SqlBool>`address_key(${ref('invites.recipientEmail')}) = address_key(${recipientEmail})`)
    .where('inviteEmails.sentAt', '>', new Date(now.getTime() - MIN_MAIL_INTERVAL_MS))
    .orderBy('inviteEmails.sentAt', 'desc')
    .limit(1)
  return (await mails.select('inviteEmails.sentAt').executeTakeFirst())?.sentAt
}

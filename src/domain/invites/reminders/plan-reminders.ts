import { scopeWhere } from '../../../db/queries.ts'
import { rawStatement } from '../../../db/statements.ts'
import { countOpenReminders, openReminders } from '../../../db/statements-by-hand/due-reminders.ts'
import type { Invite } from '../../../generated/prisma/client.ts'
import { recordByMember } from '../../audit/record-audit.ts'
import { modeOf } from '../../authorization/author.ts'
import { authorize } from '../../authorization/permissions.ts'
import { loadZones } from '../../concurrency/load-zones.ts'
import type { Context } from '../../context.ts'
import { REMINDER_KINDS, type ReminderKind } from '../../mails/candidate-mails.ts'
import { zoneOf } from '../../time/zones.ts'
import { inTransaction } from '../../transaction.ts'
import { withCurrentStatus } from '../expiry.ts'
import { requireVisibleInvite } from '../invites.ts'
import { findSuppression } from '../suppressions.ts'
import { toQuietTimes } from './reminder-due.ts'
import { readRule } from './reminder-rules.ts'
import {
  dedupeKeyOf,
  dueAt,
  isRemindedState,
  MAX_DELAY_MS,
  MAX_REMINDERS,
  MIN_BEFORE_EXPIRY_MS,
  MIN_MAIL_INTERVAL_MS,
  type ReminderStep,
  reminderKindOf,
  ruleFor,
  stepsOf,
} from './reminder-steps.ts'
import { nextInWindow } from './sending-window.ts'

/** Why a reminder will not be sent. */
export const SKIP_REASONS = ['off', 'earlier', 'moved_on', 'stopped', 'too_late', 'replaced', 'enough', 'ends'] as const
export type SkipReason = (typeof SKIP_REASONS)[number]
/**
 * A reminder that was not queued yet: when it will be sent, or why it won't.
 *
 * @property at planned or missed time.
 */
export type PlannedReminder = { step: ReminderStep; kind: ReminderKind | null; at: Date; skipped: SkipReason | null }

type InviteToRemind = Pick<
  Invite,
  | 'organizationId'
  | 'assessmentId'
  | 'mode'
  | 'recipientEmail'
  | 'remindersOff'
  | 'sentAt'
  | 'startedAt'
  | 'expiresAt'
  | 'linkVersion'
  | 'status'
  | 'timeZone'
  | 'assessmentSession'
>

/** Planned and skipped reminders of an open invite; empty without a rule. @throws DomainError invite_not_found. */
export async function planReminders(ctx: Context, inviteId: string): Promise<PlannedReminder[]> {
  await requireVisibleInvite(ctx, inviteId)
  const { db, deps } = ctx
  const organizationId = ctx.organization.id
  const found = await db.invite.findFirst({
    where: { ...scopeWhere(ctx), id: inviteId },
    include: { organization: { select: { timeZone: true, weekDaysOff: true } } },
  })
  const rules = await db.reminderRule.findMany({ where: { organizationId } })
  const rule = found && ruleFor(rules, found)
  if (!found || !rule?.activeSince) return []
  const now = deps.clock()
  const invite = withCurrentStatus(found, now)
  const mails = await db.inviteEmail.findMany({
    where: { organizationId, inviteId },
    select: { dedupeKey: true, state: true, sentAt: true, createdAt: true, linkVersion: true },
  })
  const accepted = mails.filter(({ state }) => state !== 'failed')
  const lastAt = Math.max(...accepted.map(({ sentAt, createdAt }) => (sentAt ?? createdAt).getTime()), -Infinity)
  const reminded = accepted.filter(
    ({ dedupeKey, linkVersion }) => dedupeKey?.startsWith('reminder:') && linkVersion === invite.linkVersion,
  )
  const isStopped =
    (await findSuppression(ctx, invite.mode, invite.recipientEmail)) ??
    (await findSuppression(ctx, invite.mode, invite.recipientEmail, 'reminders'))
  const steps = stepsOf(rule)
    .flatMap((step) => {
      const dueTime = dueAt(step, invite)
      return dueTime ? [{ step, due: dueTime }] : []
    })
    .sort((a, b) => a.due.getTime() - b.due.getTime())
  const latest = steps.findLast(({ due: dueTime }) => dueTime <= now)
  const end = await findEnd(ctx, invite)
  await loadZones(ctx.db, [zoneOf(invite)])
  let free = Math.max(now.getTime(), lastAt + MIN_MAIL_INTERVAL_MS)
  let remainingReminders = MAX_REMINDERS - reminded.length
  return steps.flatMap(({ step, due: dueTime }): PlannedReminder[] => {
    if (mails.some(({ dedupeKey }) => dedupeKey === dedupeKeyOf(step, invite))) return []
    const quiet = toQuietTimes(rule, invite.organization.weekDaysOff, step.after === 'before_expiry')
    const sendsAt = nextInWindow(quiet, zoneOf(invite), new Date(Math.max(free, dueTime.getTime())))
    const isMeant = isRemindedState(invite.status) && step.states.includes(invite.status)
    const reasons: [SkipReason, boolean][] = [
      ['off', invite.remindersOff || sendsAt === null],
      ['earlier', invite.sentAt < rule.activeSince!],
      ['moved_on', !isMeant],
      ['stopped', isStopped !== null],
      ['too_late', dueTime.getTime() <= now.getTime() - MAX_DELAY_MS],
      ['replaced', latest !== undefined && dueTime < latest.due],
      ['enough', remainingReminders <= 0],
      ['ends', end !== null && sendsAt !== null && sendsAt.getTime() > end.getTime() - MIN_BEFORE_EXPIRY_MS],
    ]
    const skipped = reasons.find(([, holds]) => holds)?.[0] ?? null
    if (skipped === null && sendsAt) {
      free = sendsAt.getTime() + MIN_MAIL_INTERVAL_MS
      remainingReminders--
    }
    return [
      {
        step,
        kind: isRemindedState(invite.status) ? reminderKindOf(invite.status) : null,
        at: skipped || !sendsAt ? dueTime : sendsAt,
        skipped,
      },
    ]
  })
}

/** When it is over; null: nothing ends it. */
async function findEnd(ctx: Context, { status, expiresAt, assessmentSession }: InviteToRemind): Promise<Date | null> {
  if (status !== 'started') return expiresAt
  const where = { ...scopeWhere(ctx), id: assessmentSession ?? '' }
  const found = assessmentSession && (await ctx.db.submission.findFirst({ where, select: { deadlineAt: true } }))
  return found ? found.deadlineAt : null
}

/** Stops or resumes an invite's reminders. @throws DomainError not_permitted, invite_not_found. */
export async function switchReminders(ctx: Context, id: string, isOn: boolean): Promise<void> {
  authorize(ctx, 'operate_invites')
  await inTransaction(ctx, async (inside) => {
    await requireVisibleInvite(inside, id)
    const { count } = await inside.db.invite.updateMany({
      where: { ...scopeWhere(inside), id, remindersOff: isOn },
      data: { remindersOff: !isOn },
    })
    if (count > 0)
      await recordByMember(inside, { action: isOn ? 'resumed_reminders' : 'stopped_reminders', target: { kind: 'invite', id } })
  })
}

/** First reminder to each candidate if the rule applied to existing invites. */
export type OpenReminder = { inviteId: string; recipientEmail: string; assessment: string; kind: ReminderKind; at: Date }

/** Invites that the preview lists. */
export const MAX_LISTED_OPEN = 50

/** @property today number sent before the organization's midnight. @property lastAt time of the last one; null: none. */
export type OpenReminders = { total: number; today: number; lastAt: Date | null; listed: OpenReminder[] }

/** First reminders that a rule that is on would send for invites older than it, as numbers and by name. @throws as {@link readRule}. */
export async function listOpenReminders(ctx: Context, assessmentId: string | null): Promise<OpenReminders> {
  const rule = await readRule(ctx, assessmentId)
  if (!rule?.activeSince) return { total: 0, today: 0, lastAt: null, listed: [] }
  const now = ctx.deps.clock()
  const { weekDaysOff, timeZone } = await ctx.db.organization.findUniqueOrThrow({
    where: { id: ctx.organization.id },
    select: { weekDaysOff: true, timeZone: true },
  })
  const key = { organizationId: ctx.organization.id, ruleId: rule.id, mode: modeOf(ctx) }
  const limits = { tooLate: MAX_DELAY_MS, tooShort: MIN_BEFORE_EXPIRY_MS }
  const found = await rawStatement(ctx.db, openReminders(now, key, { ...limits, rows: MAX_LISTED_OPEN })).execute()
  const counts = await rawStatement(ctx.db, countOpenReminders(now, key, limits)).execute()
  await loadZones(ctx.db, [timeZone, ...counts.map(({ zone }) => zone)])
  const sentAt = ({ after, zone, dueAt: dueTime }: { after: string; zone: string; dueAt: Date }): Date =>
    nextInWindow(toQuietTimes(rule, weekDaysOff, after === 'before_expiry'), zone, dueTime > now ? dueTime : now) ?? dueTime
  const listed = found.map((row) => {
    const { inviteId, recipientEmail, assessment, place } = row
    return { inviteId, recipientEmail, assessment, kind: REMINDER_KINDS[place]!, at: sentAt(row) }
  })
  const sendings = counts.map((row) => ({ at: sentAt(row), count: row.count }))
  const dayOf = (time: Date): string => time.toLocaleDateString('sv', { timeZone })
  const sum = (counted: typeof sendings): number => counted.reduce((total, { count }) => total + count, 0)
  return {
    total: sum(sendings),
    today: sum(sendings.filter(({ at }) => dayOf(at) === dayOf(now))),
    lastAt: sendings.length === 0 ? null : new Date(Math.max(...sendings.map(({ at }) => at.getTime()))),
    listed,
  }
}

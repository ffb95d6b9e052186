import { queueReminders } from '../../src/domain/invites/reminders/queue-reminders.ts'
import type { ReminderStep } from '../../src/domain/invites/reminders/reminder-steps.ts'
import type { Prisma } from '../../src/generated/prisma/client.ts'
import type { Service } from './service.ts'

export const HOUR_MS = 3_600_000
/** Two days after the invitation, to candidates who have not submitted. */
export const AFTER_TWO_DAYS: ReminderStep = { after: 'sent', hours: 48, states: ['pending', 'accepted', 'started'] }
export const DAY_BEFORE_END: ReminderStep = { after: 'before_expiry', hours: 24, states: ['pending', 'accepted'] }

/** Creates an organization with a reminder rule for all of its invites, by default at any hour of any day. */
export async function makeReminding(
  service: Service,
  { steps = [AFTER_TWO_DAYS], ...rule }: { steps?: ReminderStep[] } & Partial<Prisma.ReminderRuleUncheckedCreateInput> = {},
) {
  const { id: organizationId, key } = await service.make.organization()
  const assessment = await service.make.assessment(organizationId)
  await service.make.question(assessment)
  const open = { quietFrom: 0, quietUntil: 0, onDaysOff: true, activeSince: new Date(0) }
  const times = { updatedAt: service.clock.now() }
  const made = await service.db.reminderRule.create({
    data: { organizationId, id: service.deps.newId(), ...open, ...times, ...rule, steps },
  })
  const hoursAgo = (hours: number) => new Date(service.clock.now().getTime() - hours * HOUR_MS)
  const invite = (data: Partial<Prisma.InviteUncheckedCreateInput> = {}) =>
    service.make.invite(assessment, { sentAt: hoursAgo(49), ...data })
  /** Runs the sweep's part for reminders. @returns all reminders queued for the organization so far. */
  const remind = async () => {
    await queueReminders(service.system)
    return service.db.inviteEmail.findMany({
      where: { organizationId, dedupeKey: { startsWith: 'reminder:' } },
      orderBy: { id: 'asc' },
    })
  }
  return { organizationId, key, assessment, rule: made, hoursAgo, invite, remind }
}

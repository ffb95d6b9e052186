import { isDeepStrictEqual } from 'node:util'
import { affectedRows } from '../../../db/statements.ts'
import type { AuditDetails } from '../../audit/audit-details.ts'
import { recordAudit } from '../../audit/record-audit.ts'
import { authorize } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import type { Issue } from '../../errors.ts'
import { requireAssessment } from '../../loaders/require-assessment.ts'
import { inTransaction } from '../../transaction.ts'
import { checkChoice, checkInteger, checkSize, findIssues } from '../../validation/checks.ts'
import { throwIfIssues } from '../../validation/throw-if-issues.ts'
import {
  ALWAYS_ACTIVE,
  ANCHORS,
  MAX_STEPS,
  type ReminderRule,
  type ReminderStep,
  STATES_OF,
  STEP_HOURS,
  stepsOf,
} from './reminder-steps.ts'

export type RuleSettings = {
  isOn: boolean
  steps: ReminderStep[]
  quietFrom: number
  quietUntil: number
  onDaysOff: boolean
}

/** Defaults of a new rule. */
export const DEFAULT_RULE: RuleSettings = {
  isOn: false,
  steps: [
    { after: 'sent', hours: 72, states: ['pending', 'accepted', 'started'] },
    { after: 'before_expiry', hours: 48, states: ['pending', 'accepted'] },
  ],
  quietFrom: 20,
  quietUntil: 8,
  onDaysOff: false,
}
const HOURS = { minimum: 0, maximum: 23 }

/** The organization's rule for reminders, or the assessment's own; null: none. @throws DomainError not_permitted, assessment_not_found. */
export async function readRule(ctx: Context, assessmentId: string | null): Promise<ReminderRule | null> {
  authorize(ctx, 'manage_settings')
  const { db, organization } = ctx
  if (assessmentId !== null) await requireAssessment(ctx, assessmentId)
  return db.reminderRule.findFirst({ where: { organizationId: organization.id, assessmentId } })
}

export const settingsOf = (rule: ReminderRule | null): RuleSettings =>
  rule ? { ...rule, isOn: rule.activeSince !== null, steps: stepsOf(rule) } : DEFAULT_RULE

/**
 * Saves a rule. Enabling it affects invites sent from then on; changing it keeps the invites it affects.
 *
 * @throws DomainError not_permitted; assessment_not_found; invalid: no step or too many, two steps at one time, impossible hours, or a
 *   state without such a step.
 */
export async function saveRule(ctx: Context, assessmentId: string | null, input: RuleSettings): Promise<void> {
  authorize(ctx, 'manage_settings')
  throwIfIssues(findRuleIssues(input))
  await inTransaction(ctx, async (inside) => {
    const { db, deps, organization } = inside
    await inside.db.selectFrom('organizations').select('id').forNoKeyUpdate().execute()
    const before = await readRule(inside, assessmentId)
    const { isOn, steps, quietFrom, quietUntil, onDaysOff } = input
    const now = deps.clock()
    const set = { steps, quietFrom, quietUntil, onDaysOff }
    const data = { ...set, activeSince: isOn ? (before?.activeSince ?? now) : null, updatedAt: now }
    if (before && isDeepStrictEqual({ ...settingsOf(before), ...input }, settingsOf(before))) return
    const key = { organizationId: organization.id, id: before?.id ?? deps.newId() }
    await db.reminderRule.upsert({
      where: { organizationId_id: key },
      create: { ...key, assessmentId, ...data },
      update: data,
    })
    await recordChange(inside, assessmentId, { isOn, steps })
  })
}

/** Deletes an assessment's rule, so that the organization's rule applies again. @throws DomainError not_permitted, assessment_not_found. */
export async function deleteRule(ctx: Context, assessmentId: string): Promise<void> {
  authorize(ctx, 'manage_settings')
  await inTransaction(ctx, async (inside) => {
    await requireAssessment(inside, assessmentId)
    const dropped = await affectedRows(
      inside.db.deleteFrom('reminderRules').where('reminderRules.assessmentId', '=', assessmentId),
    )
    if (dropped > 0) await recordChange(inside, assessmentId, { isOwn: false })
  })
}

/** Applies an active rule to invites that were sent before it, too. @throws DomainError not_permitted, assessment_not_found. */
export async function includeOpenInvites(ctx: Context, assessmentId: string | null): Promise<void> {
  authorize(ctx, 'manage_settings')
  await inTransaction(ctx, async (inside) => {
    const rule = await readRule(inside, assessmentId)
    const { count } = await inside.db.reminderRule.updateMany({
      where: { organizationId: inside.organization.id, id: rule?.id ?? '', activeSince: { not: null } },
      data: { activeSince: ALWAYS_ACTIVE, updatedAt: inside.deps.clock() },
    })
    if (count > 0) await recordChange(inside, assessmentId, { openInvites: true })
  })
}

const recordChange = (ctx: Context, assessmentId: string | null, details: AuditDetails) =>
  recordAudit(ctx, {
    action: 'changed_reminders',
    ...(assessmentId !== null && { target: { kind: 'assessment', id: assessmentId } }),
    details,
  })

export function findRuleIssues({
  steps,
  quietFrom,
  quietUntil,
}: Pick<RuleSettings, 'steps' | 'quietFrom' | 'quietUntil'>): Issue[] {
  return findIssues([
    ['steps', steps.length === 0 ? { rule: 'required' } : checkSize('maxItems', steps.length, MAX_STEPS)],
    ['quietFrom', checkInteger(quietFrom, HOURS)],
    ['quietUntil', checkInteger(quietUntil, HOURS)],
    ...steps.flatMap(({ after, hours, states }, i): Parameters<typeof findIssues>[0] => [
      [`after${i + 1}`, checkChoice(after, ANCHORS)],
      [
        `hours${i + 1}`,
        checkInteger(hours, STEP_HOURS) ?? (isTwice(steps, i) ? { rule: 'account', problem: 'taken' } : undefined),
      ],
      [`states${i + 1}`, states.length === 0 ? { rule: 'required' } : undefined],
      ...states.map((state): [string, ReturnType<typeof checkChoice>] => [
        `states${i + 1}`,
        checkChoice(state, STATES_OF[after] ?? []),
      ]),
    ]),
  ])
}

const isTwice = (steps: ReminderStep[], i: number): boolean =>
  steps.findIndex(({ after, hours }) => after === steps[i]!.after && hours === steps[i]!.hours) !== i

import { ownOrganization } from '../../db/own.ts'
import { run } from '../../db/statements.ts'
import { authorize } from '../access/permissions.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { checkInteger, findIssues } from '../checking/checks.ts'
import { refuse } from '../checking/refuse.ts'
import { refuseUnseenChanges, type Seen, timeOfChange } from '../checking/refuse-unseen-changes.ts'
import type { Context } from '../context.ts'
import { AUDIT_KEPT_DAYS, DEVICE_DAYS, IDLE_MINUTES, SESSION_HOURS } from '../limits.ts'
import { nameActor, queueAdminEmails } from '../mails/member-emails.ts'
import { inTransaction } from '../transaction.ts'
import { defined } from '../values/defined.ts'

/**
 * What an organization asks of those who come in.
 *
 * @property deviceDays for so long a browser may stand for a second factor; 0: not at all.
 * @property auditKeptDays for so long the audit log is kept.
 * @property secondFactorFrom from when more than a password is asked for; null: never. The date is looked at each time: nothing is copied to people.
 */
export type OrganizationSecurity = {
  secondFactorFrom: Date | null
  deviceDays: number
  idleMinutes: number
  sessionHours: number
  auditKeptDays: number
}

/** Of who has changed nothing. */
const DEFAULTS: OrganizationSecurity = {
  secondFactorFrom: null,
  deviceDays: 30,
  idleMinutes: 720,
  sessionHours: 720,
  auditKeptDays: AUDIT_KEPT_DAYS.minimum,
}
const select = {
  secondFactorFrom: true,
  deviceDays: true,
  idleMinutes: true,
  sessionHours: true,
  auditKeptDays: true,
  updatedAt: true,
} as const

/** With when it was last changed: 1970 where nothing was. @throws DomainError not_permitted. */
export async function readOrganizationSecurity({
  db,
  organization,
  ...ctx
}: Context): Promise<OrganizationSecurity & { updatedAt: Date }> {
  authorize(ctx, 'manage_security')
  const found = await db.organizationSecurity.findUnique({ where: { organizationId: organization.id }, select })
  return found ?? { ...DEFAULTS, updatedAt: new Date(0) }
}

/**
 * Sets those that are given, and keeps the others. They hold from the next request of everybody.
 *
 * @throws DomainError not_permitted; invalid: a number that is too low or too high, a `date` that is none, or `changed` for what
 *   somebody else has changed since it was seen.
 */
export async function changeOrganizationSecurity(ctx: Context, given: Partial<OrganizationSecurity>, seen?: Seen): Promise<void> {
  authorize(ctx, 'manage_security')
  await inTransaction(ctx, async (inside) => {
    await run(inside.db, ownOrganization(ctx).select('id').forNoKeyUpdate())
    const { updatedAt, ...before } = await readOrganizationSecurity(inside)
    const after = { ...before, ...given }
    const isDate = after.secondFactorFrom === null || !Number.isNaN(after.secondFactorFrom.getTime())
    refuse(
      findIssues([
        ['secondFactorFrom', isDate ? undefined : { rule: 'account', problem: 'date' }],
        ['deviceDays', checkInteger(after.deviceDays, DEVICE_DAYS)],
        ['idleMinutes', checkInteger(after.idleMinutes, IDLE_MINUTES)],
        ['sessionHours', checkInteger(after.sessionHours, SESSION_HOURS)],
        ['auditKeptDays', checkInteger(after.auditKeptDays, AUDIT_KEPT_DAYS)],
      ]),
    )
    refuseUnseenChanges({ ...before, updatedAt }, seen, before, given)
    const changed = (Object.keys(DEFAULTS) as (keyof OrganizationSecurity)[]).filter(
      (name) => `${before[name]}` !== `${after[name]}`,
    )
    if (changed.length === 0) return
    const organizationId = ctx.organization.id
    const data = { ...after, updatedAt: timeOfChange(ctx.deps.clock(), { updatedAt }) }
    await inside.db.organizationSecurity.upsert({ where: { organizationId }, create: { organizationId, ...data }, update: data })
    const details = Object.fromEntries(
      changed.map((name) => [name, { before: wordOf(before[name]), after: wordOf(after[name]) }]),
    )
    await recordAudit(inside, { action: 'changed_security', details })
    await tellOfSecurity(inside)
  })
}

/** Tells the organization's admins that what it asks of those who come in was changed. */
export const tellOfSecurity = async (inside: Context): Promise<void> =>
  queueAdminEmails(inside, { kind: 'security_changed', facts: defined({ person: await nameActor(inside) }) })

const wordOf = (value: Date | number | null): string | number | null => (value instanceof Date ? value.toISOString() : value)

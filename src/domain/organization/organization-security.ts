import { toAuditDetails } from '../audit/audit-details.ts'
import { versionOf } from '../audit/find-last-change.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { omitUndefined } from '../fields/omit-undefined.ts'
import { AUDIT_RETENTION_DAYS, IDLE_MINUTES, KEY_DAYS, SESSION_HOURS, TRUSTED_DEVICE_DAYS } from '../limits.ts'
import { nameActor, queueAdminEmails } from '../mails/member-emails.ts'
import { isAllowedFrom } from '../networks/ip-networks.ts'
import { DAY_MS } from '../time/days.ts'
import { inTransaction } from '../transaction.ts'
import { checkInteger, findIssues } from '../validation/checks.ts'
import { findNetworkIssues } from '../validation/find-network-issues.ts'
import { refuseUnseenChanges, type SeenAt, timeOfChange } from '../validation/refuse-unseen-changes.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'

/**
 * Security settings of an organization.
 *
 * @property networks CIDRs or addresses that may use the portal; empty: any. @property apiKeyNetworks the same for API keys, in addition to
 *   each key's own.
 * @property apiKeyMaxDays longest validity of a new API key; null: unlimited.
 * @property trustedDeviceDays days for which a browser replaces the second factor; 0: never. @property auditRetentionDays retention of the
 *   audit log.
 * @property secondFactorFrom start of the requirement of a second factor; null: none. Compared on each request.
 */
export type OrganizationSecurity = {
  secondFactorFrom: Date | null
  trustedDeviceDays: number
  idleMinutes: number
  sessionHours: number
  networks: string[]
  apiKeyNetworks: string[]
  apiKeyMaxDays: number | null
  auditRetentionDays: number
}

const DEFAULTS: OrganizationSecurity = {
  secondFactorFrom: null,
  trustedDeviceDays: 30,
  idleMinutes: 720,
  sessionHours: 720,
  networks: [],
  apiKeyNetworks: [],
  apiKeyMaxDays: null,
  auditRetentionDays: AUDIT_RETENTION_DAYS.minimum,
}
const select = {
  secondFactorFrom: true,
  trustedDeviceDays: true,
  idleMinutes: true,
  sessionHours: true,
  networks: true,
  apiKeyNetworks: true,
  apiKeyMaxDays: true,
  auditRetentionDays: true,
  updatedAt: true,
} as const

/** With the time of the last change; 1970 if there was none. @throws DomainError not_permitted. */
export async function readOrganizationSecurity({
  db,
  organization,
  ...ctx
}: Context): Promise<OrganizationSecurity & { updatedAt: Date }> {
  authorize(ctx, 'manage_security')
  const found = await db.organizationSecurity.findUnique({ where: { organizationId: organization.id }, select })
  return found ?? { ...DEFAULTS, updatedAt: new Date(0) }
}

/** @property seen time of the settings that the page showed. @property shutsOut true to accept networks that lock out API keys in use. */
type ChangeOptions = { seen?: SeenAt | undefined; shutsOut?: boolean }

/**
 * Validates as {@link changeOrganizationSecurity} does, without changing anything.
 *
 * @throws DomainError not_permitted; invalid: a number out of range; an invalid `date`; `notNetwork` or `everyNetwork` with the line
 *   number; more networks than MAX_NETWORKS; `ownAddress` if the actor's own address would be locked out; `keysShutOut` with the number of
 *   recently used API keys that would be locked out; `changed` for values that somebody else changed since they were seen.
 */
export async function checkOrganizationSecurity(
  ctx: Context,
  input: Partial<OrganizationSecurity>,
  { seen: seenAt, shutsOut = false }: ChangeOptions = {},
): Promise<void> {
  const { updatedAt, ...before } = await readOrganizationSecurity(ctx)
  const after = { ...before, ...input }
  const isDate = after.secondFactorFrom === null || !Number.isNaN(after.secondFactorFrom.getTime())
  throwIfIssues(
    findIssues([
      ['secondFactorFrom', isDate ? undefined : { rule: 'account', problem: 'date' }],
      ['trustedDeviceDays', checkInteger(after.trustedDeviceDays, TRUSTED_DEVICE_DAYS)],
      ['idleMinutes', checkInteger(after.idleMinutes, IDLE_MINUTES)],
      ['sessionHours', checkInteger(after.sessionHours, SESSION_HOURS)],
      ['apiKeyMaxDays', after.apiKeyMaxDays === null ? undefined : checkInteger(after.apiKeyMaxDays, KEY_DAYS)],
      ['auditRetentionDays', checkInteger(after.auditRetentionDays, AUDIT_RETENTION_DAYS)],
    ]),
  )
  throwIfIssues([...findNetworkIssues(input.networks ?? []), ...findNetworkIssues(input.apiKeyNetworks ?? [], 'apiKeyNetworks')])
  const { origin } = ctx
  const isOut = input.networks && origin && !isAllowedFrom(input.networks, origin.address)
  throwIfIssues(isOut ? [{ field: 'networks', rule: 'account', problem: 'ownAddress' }] : [])
  await refuseUnseenChanges(versionOf(ctx, { updatedAt, seen: seenAt, action: 'changed_security' }), before, input)
  const shutOut = shutsOut ? 0 : await countShutOut(ctx, before.apiKeyNetworks, input.apiKeyNetworks ?? before.apiKeyNetworks)
  throwIfIssues(shutOut > 0 ? [{ field: 'apiKeyNetworks', rule: 'account', problem: 'keysShutOut', limit: shutOut }] : [])
}

/** Counts recently used API keys whose last network would no longer be allowed. */
async function countShutOut({ db, deps, organization }: Context, before: string[], networks: string[]): Promise<number> {
  if (`${networks}` === `${before}`) return 0
  const now = deps.clock()
  const inUseFrom = new Date(now.getTime() - IN_USE_MS)
  const isGood = { revokedAt: null, OR: [{ expiresAt: null }, { expiresAt: { gt: now } }] }
  const where = { organizationId: organization.id, ...isGood, lastUsedAt: { gte: inUseFrom }, lastUsedFrom: { not: null } }
  const used = await db.apiKey.findMany({ where, select: { lastUsedFrom: true } })
  return used.filter(({ lastUsedFrom }) => !isAllowedFrom(networks, lastUsedFrom!)).length
}
const IN_USE_MS = 30 * DAY_MS

/**
 * Changes the given settings, effective with the next request.
 *
 * @throws DomainError as {@link checkOrganizationSecurity}.
 */
export async function changeOrganizationSecurity(
  ctx: Context,
  input: Partial<OrganizationSecurity>,
  options: ChangeOptions = {},
): Promise<void> {
  authorize(ctx, 'manage_security')
  await inTransaction(ctx, async (inside) => {
    await inside.db.selectFrom('organizations').select('id').forNoKeyUpdate().execute()
    await checkOrganizationSecurity(inside, input, options)
    const { updatedAt, ...before } = await readOrganizationSecurity(inside)
    const after = { ...before, ...input }
    const changed = (Object.keys(DEFAULTS) as (keyof OrganizationSecurity)[]).filter(
      (name) => `${before[name]}` !== `${after[name]}`,
    )
    if (changed.length === 0) return
    const organizationId = ctx.organization.id
    const data = { ...after, updatedAt: timeOfChange(ctx.deps.clock(), { updatedAt }) }
    await inside.db.organizationSecurity.upsert({ where: { organizationId }, create: { organizationId, ...data }, update: data })
    const details = toAuditDetails(
      changed.map((name) => [name, { before: wordOf(before[name]), after: wordOf(after[name]) }] as const),
    )
    await recordAudit(inside, { action: 'changed_security', details })
    await notifyOfSecurityChange(inside)
  })
  ctx.deps.apiKeyCache.empty()
}

/** Notifies the organization's admins that its security settings changed. */
export const notifyOfSecurityChange = async (inside: Context): Promise<void> =>
  queueAdminEmails(inside, { kind: 'security_changed', facts: omitUndefined({ person: await nameActor(inside) }) })

const wordOf = (value: OrganizationSecurity[keyof OrganizationSecurity]) => (value instanceof Date ? value.toISOString() : value)

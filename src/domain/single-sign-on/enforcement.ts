import { recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import type { Issue } from '../errors.ts'
import { SSO_SESSION_HOURS } from '../limits.ts'
import { listSignInExceptions, type SignInExceptionMember } from '../members/sign-in-exceptions.ts'
import { notifyOfSecurityChange } from '../organization/organization-security.ts'
import { inTransaction } from '../transaction.ts'
import { checkInteger, findIssues } from '../validation/checks.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import { countReach, type EnforcementReach } from './count-reach.ts'
import { findProviders, isTested, type Provider, stopEnforcing } from './providers.ts'

/**
 * Enforcement of single sign-on.
 *
 * @property enforcedAt null: not enforced. @property sessionHours validity of a sign-in.
 * @property isTested true if the actor tried the provider with its current settings in this session.
 * @property ownWays members with a sign-in exception.
 */
export type Enforcement = {
  enforcedAt: Date | null
  sessionHours: number
  isTried: boolean
  ownWays: SignInExceptionMember[]
  reach: EnforcementReach
}

const DEFAULT_HOURS = 12

/** @throws DomainError not_permitted. */
export async function readEnforcement(ctx: Context): Promise<Enforcement> {
  authorize(ctx, 'manage_security')
  const where = { organizationId: ctx.organization.id }
  const security = await ctx.db.organizationSecurity.findUnique({ where })
  const providers = await findProviders(ctx)
  return {
    enforcedAt: security?.ssoEnforcedAt ?? null,
    sessionHours: security?.ssoSessionHours ?? DEFAULT_HOURS,
    isTried: providers.some((provider) => isTestedByActor(ctx, provider)),
    ownWays: await listSignInExceptions(ctx),
    reach: await countReach(ctx),
  }
}

const isTestedByActor = (ctx: Context, provider: Provider): boolean =>
  isTested(ctx, provider) &&
  ctx.actor.kind === 'member' &&
  provider.testedById === ctx.actor.id &&
  ctx.origin?.sessionId != null &&
  provider.testedSession === ctx.origin.sessionId

/**
 * Requires single sign-on from the next request on; if it is required already, changes the session length.
 *
 * @param sessionHours 1 to 24. @throws DomainError not_permitted; invalid: the hours; `notTried` unless the actor has tried the current
 *   provider in this session; `noWayBack` unless an exempted owner has recently signed in with their own factors.
 */
export async function enforceSso(ctx: Context, sessionHours: number): Promise<void> {
  authorize(ctx, 'manage_security')
  throwIfIssues(findIssues([['ssoSessionHours', checkInteger(sessionHours, SSO_SESSION_HOURS)]]))
  await inTransaction(ctx, async (inside) => {
    await inside.db.selectFrom('organizations').select('id').forNoKeyUpdate().execute()
    const { enforcedAt, isTried, ownWays, sessionHours: before } = await readEnforcement(inside)
    const missing = (problem: 'notTried' | 'noWayBack'): Issue => ({ field: '', rule: 'account', problem })
    const hasWayBack = ownWays.some(({ signInException, isReady }) => signInException === 'break_glass' && isReady)
    if (!enforcedAt) throwIfIssues([...(isTried ? [] : [missing('notTried')]), ...(hasWayBack ? [] : [missing('noWayBack')])])
    if (enforcedAt && before === sessionHours) return
    const now = inside.deps.clock()
    const data = { ssoEnforcedAt: enforcedAt ?? now, ssoSessionHours: sessionHours, updatedAt: now }
    const organizationId = ctx.organization.id
    await inside.db.organizationSecurity.upsert({ where: { organizationId }, create: { organizationId, ...data }, update: data })
    await recordAudit(inside, { action: 'enforced_sso', details: { sessionHours: { before, after: sessionHours } } })
    await notifyOfSecurityChange(inside)
  })
}

/** Ends the enforcement of single sign-on. For owners, and for the operator if nobody gets in. @returns true if it was enforced. @throws DomainError not_permitted. */
export async function allowOtherSignInMethods(ctx: Context): Promise<boolean> {
  authorize(ctx, 'manage_security')
  return inTransaction(ctx, async (inside) => {
    await inside.db.selectFrom('organizations').select('id').forNoKeyUpdate().execute()
    return stopEnforcing(inside)
  })
}

import { recordAudit } from '../audit/record-audit.ts'
import { enterOrganization, type ServiceContext } from '../context.ts'
import { queueOwnerEmails } from '../mails/member-emails.ts'
import { displayNameOf } from '../text/display-name.ts'
import { readAuthentications } from './authentication-rows.ts'
import { hasTwoOwnFactors } from './session-access.ts'
import { MAX_SESSION_MS } from './session-tokens.ts'
import { type Membership, toMemberContext } from './sessions.ts'
import { claimToken } from './used-tokens.ts'

/**
 * Notifies an organization's owners when a person signs in without the required identity provider: by email and in the audit log, once per
 * session. Sessions that also used the provider don't count.
 *
 * @param sessionKey the session. @param memberships the person's memberships.
 */
export async function notifyOwnersOfBreakGlass(
  inside: ServiceContext,
  sessionKey: { id: string } | { tokenHash: Uint8Array<ArrayBuffer> },
  memberships: readonly Membership[],
): Promise<void> {
  const past = memberships.filter(
    ({ signInException, organization }) => signInException === 'break_glass' && organization.security?.ssoEnforcedAt != null,
  )
  if (past.length === 0) return
  const { id, proofs: rows } = await inside.db.session.findUniqueOrThrow({ where: sessionKey, include: { proofs: true } })
  const proofs = await readAuthentications(inside, rows)
  if (!hasTwoOwnFactors(proofs)) return
  const endsAt = new Date(inside.deps.clock().getTime() + MAX_SESSION_MS)
  for (const membership of past) {
    const { organizationId, organization, user } = membership
    if (proofs.some(({ provider }) => provider?.organizationId === organizationId)) continue
    if (!(await claimToken(inside, `break glass ${id} ${organizationId}`, endsAt))) continue
    await recordAudit(toMemberContext(inside, membership), { action: 'used_break_glass' })
    await queueOwnerEmails(enterOrganization(inside, organization), {
      kind: 'break_glass_used',
      facts: { person: displayNameOf(user) },
    })
  }
}

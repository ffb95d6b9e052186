import { recordAudit } from '../audit/record-audit.ts'
import { enterOrganization, type ServiceContext } from '../context.ts'
import { queueOwnerEmails } from '../mails/member-emails.ts'
import { nameOf } from '../text/name-of.ts'
import { isByOwnFactors } from './openings.ts'
import { readProofs } from './proof-rows.ts'
import { LONGEST_MS } from './session-tokens.ts'
import { asMember, type Membership } from './sessions.ts'
import { spend } from './used-tokens.ts'

/**
 * Tells an organization's owners of whoever gets in past its identity provider, in the transaction of that: once a session, by mail and in the
 * audit log. Who has come by the provider as well is none of them.
 *
 * @param which the session. @param memberships its person's.
 */
export async function tellOfBreakGlass(
  inside: ServiceContext,
  which: { id: string } | { tokenHash: Uint8Array<ArrayBuffer> },
  memberships: readonly Membership[],
): Promise<void> {
  const past = memberships.filter(
    ({ signInException, organization }) => signInException === 'break_glass' && organization.security?.ssoEnforcedAt != null,
  )
  if (past.length === 0) return
  const { id, proofs: rows } = await inside.db.session.findUniqueOrThrow({ where: which, include: { proofs: true } })
  const proofs = await readProofs(inside, rows)
  if (!isByOwnFactors(proofs)) return
  const endsAt = new Date(inside.deps.clock().getTime() + LONGEST_MS)
  for (const membership of past) {
    const { organizationId, organization, user } = membership
    if (proofs.some(({ provider }) => provider?.organizationId === organizationId)) continue
    if (!(await spend(inside, `break glass ${id} ${organizationId}`, endsAt))) continue
    await recordAudit(asMember(inside, membership), { action: 'used_break_glass' })
    await queueOwnerEmails(enterOrganization(inside, organization), { kind: 'break_glass_used', facts: { person: nameOf(user) } })
  }
}

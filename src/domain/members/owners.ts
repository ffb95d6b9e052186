import { recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import { changeAdmins, notifyOfRoleChange } from './manage-members.ts'
import type { Member } from './members.ts'

/** True if the organization has a named owner. Until then its admins are its owners. */
export const hasNamedOwner = async ({ db, organization }: Context): Promise<boolean> =>
  (await db.organization.count({ where: { id: organization.id, ownerNamedAt: { not: null } } })) > 0

/**
 * Makes a member who has joined an owner and admin without their consent, for the operator.
 *
 * @throws DomainError member_not_found; invalid: `inactive`, `notJoined`, `lastBreakGlass`.
 */
export const nameOwner = (operator: Context, id: string): Promise<void> =>
  changeAdmins(operator, id, async (inside, member) => {
    if (member.status !== 'active') throwIfIssues([{ field: '', rule: 'account', problem: 'inactive' }])
    if (!member.credentialId) throwIfIssues([{ field: '', rule: 'account', problem: 'notJoined' }])
    if (!member.portalRoles.includes('owner')) await grantOwnership(inside, member)
  })

/**
 * Names the context's admin as owner, in an organization without named owners, where every admin is one.
 *
 * @returns the member's id. @throws DomainError not_permitted; invalid: `lastBreakGlass`.
 */
export async function claimOwnership(ctx: Context): Promise<string> {
  authorize(ctx, 'manage_security')
  const { actor } = ctx
  if (actor.kind !== 'member') throw new DomainError('not_permitted')
  await changeAdmins(ctx, actor.id, async (inside, member) => {
    if (member.portalRoles.includes('owner')) return
    // Another admin may have become the owner in this moment.
    if (await hasNamedOwner(inside)) throw new DomainError('not_permitted')
    await grantOwnership(inside, member)
  })
  return actor.id
}

/**
 * Removes a member's ownership; they stay an admin. Owners can remove their own.
 *
 * @throws DomainError not_permitted, member_not_found; invalid: `lastOwner`, `lastBreakGlass`.
 */
export async function endOwnership(ctx: Context, id: string): Promise<void> {
  authorize(ctx, 'manage_security')
  await changeAdmins(ctx, id, async (inside, member) => {
    if (!member.portalRoles.includes('owner')) return
    const after = { roles: member.roles, portalRoles: member.portalRoles.filter((portalRole) => portalRole !== 'owner') }
    await inside.db.member.update({
      where: { organizationId: inside.organization.id, id },
      data: { ...after, updatedAt: inside.deps.clock() },
    })
    await record(inside, 'ended_ownership', member, after)
  })
}

/** Makes a member an owner, and an admin with it; from then on the organization has named one. The member must be held by changeAdmins. */
export async function grantOwnership(inside: Context, member: Member): Promise<void> {
  const { db, organization, deps } = inside
  const now = deps.clock()
  const roles = member.roles.includes('admin') ? member.roles : [...member.roles, 'admin']
  const after = { roles, portalRoles: ['owner', ...member.portalRoles] }
  await db.member.update({ where: { organizationId: organization.id, id: member.id }, data: { ...after, updatedAt: now } })
  await db.organization.updateMany({ where: { id: organization.id, ownerNamedAt: null }, data: { ownerNamedAt: now } })
  await record(inside, 'became_owner', member, after)
}

type Given = Pick<Member, 'roles' | 'portalRoles'>

async function record(
  inside: Context,
  action: 'became_owner' | 'ended_ownership',
  { id, roles, portalRoles }: Member,
  after: Given,
): Promise<void> {
  const details = {
    ...(after.roles.length !== roles.length && { roles: { before: roles, after: after.roles } }),
    portalRoles: { before: portalRoles, after: after.portalRoles },
  }
  await recordAudit(inside, { action, target: { kind: 'member', id }, details })
  await notifyOfRoleChange(inside, id, { roles, portalRoles }, after)
}

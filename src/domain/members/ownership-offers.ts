import { type AuditAction, recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { omitUndefined } from '../fields/omit-undefined.ts'
import { nameActor, queueMemberEmail, queueOwnerEmails } from '../mails/member-emails.ts'
import { displayNameOf } from '../text/display-name.ts'
import { daysAfter } from '../time/days.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import { changeAdmins } from './manage-members.ts'
import { lockAnyMember, type Member } from './members.ts'
import { grantOwnership, hasNamedOwner } from './owners.ts'

// A member is made an owner by an owner's offer, which they take: nobody is one without knowing.

const OFFER_DAYS = 7

/** @property from who offers it, as pages call them. */
export type OwnershipOffer = { id: string; from: string; expiresAt: Date }

/**
 * Offers ownership to a member for {@link OFFER_DAYS}, and replaces an earlier offer. Notifies the member and all owners.
 *
 * @throws DomainError not_permitted, also if the organization has no owner; member_not_found; invalid: `inactive`, `notJoined`.
 */
export async function offerOwnership(ctx: Context, memberId: string): Promise<void> {
  authorize(ctx, 'manage_security')
  const { actor } = ctx
  if (actor.kind !== 'member') throw new DomainError('not_permitted')
  await changeAdmins(ctx, memberId, async (inside, member) => {
    if (!(await hasNamedOwner(inside))) throw new DomainError('not_permitted')
    if (member.status !== 'active') throwIfIssues([{ field: '', rule: 'account', problem: 'inactive' }])
    if (!member.credentialId) throwIfIssues([{ field: '', rule: 'account', problem: 'notJoined' }])
    if (member.portalRoles.includes('owner')) return
    await endOffers(inside, memberId)
    const { db, deps, organization } = inside
    const createdAt = deps.clock()
    const parties = { organizationId: organization.id, fromMemberId: actor.id, toMemberId: memberId }
    const expiresAt = daysAfter(createdAt, OFFER_DAYS)
    await db.ownershipOffer.create({ data: { id: deps.newId(), ...parties, createdAt, expiresAt } })
    await record(inside, 'offered_ownership', memberId)
    const person = await nameActor(inside)
    const facts = omitUndefined({ person, called: displayNameOf(member.user), until: expiresAt.toISOString() })
    await queueMemberEmail(inside, { kind: 'owner_offered', memberId, facts })
    await queueOwnerEmails(inside, { kind: 'ownership_offer_made', facts })
  })
}

/** The open offer to a member; null if there is none. Offers by former owners don't count. */
export async function findOwnershipOffer(
  ctx: Pick<Context, 'db' | 'deps' | 'organization'>,
  memberId: string,
): Promise<OwnershipOffer | null> {
  const { db, deps, organization } = ctx
  const offer = await db.ownershipOffer.findFirst({
    where: {
      organizationId: organization.id,
      toMemberId: memberId,
      answeredAt: null,
      expiresAt: { gt: deps.clock() },
      from: { status: 'active', portalRoles: { has: 'owner' } },
    },
    select: { id: true, expiresAt: true, from: { select: { user: true } } },
    orderBy: { id: 'desc' },
  })
  return offer && { id: offer.id, expiresAt: offer.expiresAt, from: displayNameOf(offer.from.user) }
}

/**
 * Takes the offer that is open to the context's member, who is an owner, and an admin, from then on; or refuses it.
 *
 * @throws DomainError not_permitted; invalid: `offerEnded`.
 */
export async function answerOwnershipOffer(ctx: Context, { takes }: { takes: boolean }): Promise<void> {
  const { actor } = ctx
  if (actor.kind !== 'member') throw new DomainError('not_permitted')
  const answer = async (inside: Context, member: Member) => {
    const offer = await findOwnershipOffer(inside, actor.id)
    if (!offer) throw new DomainError('invalid', { issues: [{ field: '', rule: 'account', problem: 'offerEnded' }] })
    await endOffers(inside, actor.id)
    if (!takes) return record(inside, 'refused_ownership', actor.id)
    await grantOwnership(inside, member)
    await queueOwnerEmails(inside, {
      kind: 'ownership_offer_taken',
      facts: { person: displayNameOf(member.user), called: offer.from },
    })
  }
  await changeAdmins(ctx, actor.id, answer, lockAnyMember)
}

/** @throws DomainError not_permitted, member_not_found. */
export async function withdrawOwnershipOffer(ctx: Context, memberId: string): Promise<void> {
  authorize(ctx, 'manage_security')
  await changeAdmins(ctx, memberId, async (inside) => {
    if ((await endOffers(inside, memberId)) > 0) await record(inside, 'withdrew_ownership_offer', memberId)
  })
}

/** @returns how many were open. */
async function endOffers({ db, deps, organization }: Context, toMemberId: string): Promise<number> {
  const now = deps.clock()
  const openOffers = { organizationId: organization.id, toMemberId, answeredAt: null, expiresAt: { gt: now } }
  return (await db.ownershipOffer.updateMany({ where: openOffers, data: { answeredAt: now } })).count
}

const record = (inside: Context, action: AuditAction, id: string): Promise<void> =>
  recordAudit(inside, { action, target: { kind: 'member', id } })

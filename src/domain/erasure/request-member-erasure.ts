import { affectedRows } from '../../db/statements.ts'
import { unscoped } from '../../db/unscoped.ts'
import { findWorkingKeysOf, revokeKeysOf } from '../api-keys/manage-keys.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { changeAdmins, deactivateMember } from '../members/manage-members.ts'
import { getMember, type Member } from '../members/members.ts'
import { refuseRoleBeyondOwn } from '../members/role-changes.ts'
import { hmacOfAddress } from '../secrets/address-hmacs.ts'
import { encrypt } from '../secrets/encryption.ts'
import { displayNameOf } from '../text/display-name.ts'
import { userKeys } from '../text/fold-text.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import { type ErasedCounts, type Erasure, type ErasureStep, getErasure, type Subject } from './erasures.ts'
import { purgeAccountTraces } from './purge-account-traces.ts'
import { countOtherOpen, purposeOf } from './request-erasure.ts'

// Erasing a member removes their identity. Their work stays, without a name. Their account is deleted unless they belong to another
// organization.

/**
 * Texts that identify the member, stored until the last trace is gone.
 *
 * @property addresses in lower case: of the member, of the account, and of the identity provider. @property name first and last;
 * empty without one of them, because a single word matches other people. @property subjects at identity providers. @property
 * emailIds mails to the member.
 */
export type MemberIdentifiers = { addresses: string[]; name: string; subjects: string[]; emailIds: string[] }

/** Preview of an erasure. @property keys working API keys that the member created. */
export type MemberTraces = { mails: number; grades: number; actions: number; filters: number; keys: string[] }

/** @throws DomainError not_permitted, member_not_found. */
export async function findMemberTraces(ctx: Context, memberId: string): Promise<{ member: Member; traces: MemberTraces }> {
  authorize(ctx, 'erase_candidates')
  const member = await getMember(ctx, memberId)
  const { db, organization } = ctx
  const ofMember = { organizationId: organization.id, memberId }
  const traces = {
    mails: await db.memberEmail.count({ where: ofMember }),
    grades: await db.grade.count({ where: { organizationId: organization.id, graderId: memberId } }),
    actions: await db.auditEntry.count({ where: { organizationId: organization.id, actorId: memberId } }),
    filters: await db.savedFilter.count({ where: { ...ofMember, isShared: false } }),
    keys: (await findWorkingKeysOf(ctx, memberId)).map(({ name }) => name),
  }
  return { member, traces }
}

/**
 * Erases a member: signs them out, and deletes name, address, and account before it returns. A job erases other traces.
 *
 * @param options.revokesKeys as in deactivateMember. @param repeated id and time of an earlier erasure that is repeated.
 * @throws DomainError not_permitted, member_not_found; invalid: `ownErasure`, `tooHigh`, `lastOwner`, `lastAdmin`, `lastBreakGlass`.
 */
export async function requestMemberErasure(
  ctx: Context,
  { memberId, revokesKeys = false }: { memberId: string; revokesKeys?: boolean },
  repeated?: { id: string; until: Date },
): Promise<Erasure> {
  authorize(ctx, 'erase_candidates')
  const isOwn = ctx.actor.kind === 'member' && ctx.actor.id === memberId
  throwIfIssues(isOwn ? [{ field: '', rule: 'account', problem: 'ownErasure' }] : [])
  const id = repeated?.id ?? ctx.deps.newId()
  await changeAdmins(ctx, memberId, async (inside, member) => {
    refuseRoleBeyondOwn(inside, member)
    await lockAccount(inside, member)
    await deactivateMember(inside, memberId)
    if (revokesKeys) await revokeKeysOf(inside, memberId)
    await startErasure(inside, { id, member, at: repeated?.until ?? inside.deps.clock(), isRepeated: repeated !== undefined })
  })
  return getErasure(ctx, id)
}

type StartedErasure = { id: string; member: Member; at: Date; isRepeated: boolean }

async function startErasure(inside: Context, { id, member, at, isRepeated }: StartedErasure): Promise<void> {
  const { db, deps, organization, actor } = inside
  const memberId = member.id
  const named = await readMemberIdentifiers(inside, member)
  const counts = await eraseRows(inside, member)
  const row = {
    ...{ organizationId: organization.id, id, memberId, subject: 'member' satisfies Subject, createdAt: at },
    // The log has the receipt of a repeated erasure already.
    step: (isRepeated ? 'receipt' : 'mails') satisfies ErasureStep,
    ...{ actorKind: actor.kind, actorId: actor.kind === 'member' ? actor.id : null },
    addressHmac: new Uint8Array(hmacOfAddress(deps.secretKeys, organization.id, member.email.toLowerCase())),
    encryptedAddress: encrypt(deps.secretKeys, purposeOf(id), JSON.stringify(named)),
  }
  await db.erasure.upsert({
    where: { organizationId_id: { organizationId: organization.id, id } },
    create: { ...row, counts },
    update: { ...row, counts, finishedAt: null, backupsUntil: null },
  })
  const ahead = await countOtherOpen(inside, id)
  await deps.queue.enqueueErasure(db, { organizationId: organization.id, erasureId: id, ahead })
  await recordAudit(inside, { action: 'erased_member', target: { kind: 'member', id: memberId } })
}

async function readMemberIdentifiers(
  { db, organization }: Context,
  { id: memberId, email, credentialId, user }: Member,
): Promise<MemberIdentifiers> {
  const ofMember = { organizationId: organization.id, memberId }
  const credential = credentialId && (await db.credential.findUnique({ where: { id: credentialId }, select: { email: true } }))
  const identities = await db.identity.findMany({ where: ofMember, select: { subject: true, lastEmail: true } })
  const identityEmails = identities.flatMap(({ lastEmail }) => lastEmail ?? [])
  const addresses = [email, ...(credential ? [credential.email] : []), ...identityEmails].map((address) => address.toLowerCase())
  return {
    addresses: [...new Set(addresses)],
    name: user.firstName && user.lastName && displayNameOf(user),
    subjects: identities.map(({ subject }) => subject),
    emailIds: (await db.memberEmail.findMany({ where: ofMember, select: { id: true } })).map(({ id }) => id),
  }
}

/** Anonymizes the member, so that nobody can sign in as, invite, or reactivate them, and deletes the rows that concern only them. */
async function eraseRows(inside: Context, { id: memberId, userId, credentialId, roles }: Member): Promise<ErasedCounts> {
  const { db, deps, organization } = inside
  const ofMember = { organizationId: organization.id, memberId }
  const { count: memberMails } = await db.memberEmail.deleteMany({ where: ofMember })
  await db.accountLink.deleteMany({ where: ofMember })
  await db.identity.deleteMany({ where: ofMember })
  await db.savedFilter.deleteMany({ where: { ...ofMember, isShared: false } })
  for (const { deleteMany } of [db.memberTag, db.memberGradingLanguage, db.assessmentClient] as {
    deleteMany: typeof db.memberTag.deleteMany
  }[])
    await deleteMany({ where: ofMember })
  const offers = { OR: [{ fromMemberId: memberId }, { toMemberId: memberId }] }
  await db.ownershipOffer.deleteMany({ where: { organizationId: organization.id, ...offers } })
  const now = deps.clock()
  const lastName = roles.includes('grader') ? 'grader' : 'member'
  const former = { id: deps.newId(), firstName: 'A former', lastName, email: `${memberId}@erased.invalid` }
  await db.user.create({ data: { ...former, ...userKeys(former), createdAt: now, updatedAt: now } })
  const nothing = {
    credentialId: null,
    roles: [],
    portalRoles: [],
    department: '',
    signInException: null,
    timeZone: null,
    pageSize: null,
    notices: [],
  }
  const data = { ...nothing, userId: former.id, email: former.email, erasedAt: now, updatedAt: now }
  await db.member.update({ where: { organizationId: organization.id, id: memberId }, data })
  // Another organization's member may be of the same person.
  await db.user.deleteMany({ where: { id: userId, memberships: { none: {} } } })
  return { members: 1, accounts: await eraseAccount(inside, credentialId), memberMails }
}

/** Locks the account, so that simultaneous sign-ins and joins finish first or wait. */
const lockAccount = ({ db }: Context, { credentialId }: Member) =>
  affectedRows(unscoped(db).selectFrom('credentials').select('id').where('id', '=', credentialId).forUpdate())

/**
 * Deletes the account with its sessions, devices, factors, identities, and forms. If it belongs to another organization, only those that
 * depend on this one.
 */
async function eraseAccount(inside: Context, credentialId: string | null): Promise<number> {
  if (credentialId === null) return 0
  await purgeAccountTraces(inside, [credentialId])
  const { count } = await inside.db.credential.deleteMany({ where: { id: credentialId, memberships: { none: {} } } })
  return count
}

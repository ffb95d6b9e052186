import { unscopedPrisma } from '../../db/unscoped.ts'
import type { Language, Prisma } from '../../generated/prisma/client.ts'
import { revokeKeysOf } from '../api-keys/manage-keys.ts'
import type { AuditDetails } from '../audit/audit-details.ts'
import { versionOf } from '../audit/find-last-change.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import { type Context, inMode } from '../context.ts'
import type { Issue } from '../errors.ts'
import { omitUndefined } from '../fields/omit-undefined.ts'
import { MAX_MEMBER_LANGUAGES, MAX_MEMBER_TAGS, MAX_NAME_LENGTH } from '../limits.ts'
import { nameActor, queueMemberEmail } from '../mails/member-emails.ts'
import { endSessions } from '../sign-in/end-sessions.ts'
import { findTags, lockTags } from '../tags/tags.ts'
import { inTransaction } from '../transaction.ts'
import { checkSize, checkText, findIssues, issuesOfChangedFields } from '../validation/checks.ts'
import { refuseUnseenChanges, type SeenAt, timeOfChange } from '../validation/refuse-unseen-changes.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import { isKnownRole, lockMember, MEMBER_ROLES, type Member, type MemberRole } from './members.ts'
import { refuseKeyOnAdmins } from './refuse-key-on-admins.ts'
import {
  ASSIGNABLE_PORTAL_ROLES,
  type AssignablePortalRole,
  changesOf,
  portalRolesAfter,
  refuseRoleBeyondOwn,
  refuseRoleChange,
} from './role-changes.ts'
import { countBreakGlass, refuseNoBreakGlass } from './sign-in-exceptions.ts'

export type { Language }

/** Changes by an admin. Other words in the roles stay. */
export type MemberChange = {
  roles: MemberRole[]
  portalRoles: AssignablePortalRole[]
  department: string
  tagIds: string[]
  languageIds: string[]
  canViewTranscription: boolean
}

/** All languages, which organizations share, by code. */
export const listLanguages = ({ db }: Context): Promise<Language[]> => db.language.findMany({ orderBy: { code: 'asc' } })

/**
 * Changes a member's roles, tags, grading languages, and department, as far as given.
 *
 * @throws DomainError not_permitted, member_not_found, admin_refused; invalid: too many values, unknown ones (`reference`), `lastAdmin`,
 *   the issues of refuseRoleChange, or `changed` for values that somebody else changed since `seenAt`.
 */
export async function changeMember(ctx: Context, id: string, change: Partial<MemberChange>, seenAt?: SeenAt): Promise<void> {
  authorize(ctx, 'manage_members')
  await changeAdmins(ctx, id, async (inside, member) => {
    const { department = member.department, roles = member.roles, canViewTranscription = member.canViewTranscription } = change
    refuseKeyOnAdmins(inside, member.roles, roles)
    const portalRoles = change.portalRoles ? portalRolesAfter(member.portalRoles, change.portalRoles) : member.portalRoles
    const newRoles = { roles: rolesAfter(member.roles, portalRoles.includes('owner') ? ['admin', ...roles] : roles), portalRoles }
    refuseRoleChange(inside, member, newRoles)
    const tagIds = [...new Set(change.tagIds ?? member.tagIds)]
    const languageIds = [...new Set(change.languageIds ?? member.gradingLanguageIds)]
    const issues = findIssues([
      ['department', checkText(department, MAX_NAME_LENGTH)],
      ['tags', checkSize('maxItems', tagIds.length, MAX_MEMBER_TAGS)],
      ['languages', checkSize('maxItems', languageIds.length, MAX_MEMBER_LANGUAGES)],
    ])
    const wanted = { department, canViewTranscription, tags: tagIds.toSorted(), languages: languageIds.toSorted() }
    const current = {
      department: member.department,
      canViewTranscription: member.canViewTranscription,
      tags: member.tagIds.toSorted(),
      languages: member.gradingLanguageIds.toSorted(),
    }
    throwIfIssues(issuesOfChangedFields(issues, current, wanted))
    throwIfIssues(await findUnknown(inside, tagIds, languageIds))
    const { db, deps, organization } = inside
    const data = { ...newRoles, department: department.trim(), canViewTranscription }
    const named = await nameLists(inside, { ...current, roles: member.roles, portalRoles: member.portalRoles })
    const version = { updatedAt: member.updatedAt, seen: seenAt, action: 'changed_member', targetId: id } as const
    const after = await nameLists(inside, { ...wanted, ...data })
    await refuseUnseenChanges(versionOf(inside, version), named, after)
    await db.member.update({
      where: { organizationId: organization.id, id },
      data: { ...data, updatedAt: timeOfChange(deps.clock(), member) },
    })
    const row = { organizationId: organization.id, memberId: id }
    await db.memberTag.deleteMany({ where: row })
    await db.memberTag.createMany({ data: tagIds.map((tagId, position) => ({ ...row, tagId, position })) })
    await db.memberGradingLanguage.deleteMany({ where: row })
    await db.memberGradingLanguage.createMany({
      data: languageIds.map((languageId, position) => ({ ...row, languageId, position })),
    })
    const changes = changesOf(member, data)
    const details = { ...changes, ...gradingChangesOf(named, after) }
    await recordAudit(inside, { action: 'changed_member', target: { kind: 'member', id }, details })
    if (Object.keys(changes).length > 0 && member.credentialId) await notifyOfRoleChange(inside, id, member, data)
  })
}

type GradingSettings = { languages: string[]; canViewTranscription: boolean }

/** Changes of what a member grades and reads, for the audit log. */
const gradingChangesOf = (before: GradingSettings, after: GradingSettings): AuditDetails => ({
  ...(before.languages.join() !== after.languages.join() && {
    gradingLanguages: { before: before.languages, after: after.languages },
  }),
  ...(before.canViewTranscription !== after.canViewTranscription && {
    canViewTranscription: { before: before.canViewTranscription, after: after.canViewTranscription },
  }),
})

/** Compares roles and portal roles as one list. */
export async function notifyOfRoleChange(inside: Context, memberId: string, before: Given, after: Given): Promise<void> {
  const facts = omitUndefined({ person: await nameActor(inside), before: wordsOf(before), after: wordsOf(after) })
  await queueMemberEmail(inside, { kind: 'roles_changed', memberId, facts })
}

const wordsOf = ({ roles, portalRoles }: Given): string[] => [...portalRoles, ...roles]

/** Keeps the organization's other role names. */
const rolesAfter = (before: readonly string[], chosen: readonly string[]): string[] => [
  ...before.filter((role) => !isKnownRole(role)),
  ...MEMBER_ROLES.filter((role) => chosen.includes(role)),
]

type Given = Pick<Member, 'roles' | 'portalRoles'>

/** Member with names instead of ids: tags, languages. Lists without an order are sorted. */
async function nameLists<T extends Given & { tags: string[]; languages: string[] }>(ctx: Context, member: T): Promise<T> {
  const tags = (await findTags(ctx, member.tags)).map(({ name }) => name)
  const languages = (await listLanguages(ctx)).filter(({ id }) => member.languages.includes(id)).map(({ code }) => code)
  return {
    ...member,
    roles: member.roles.toSorted(),
    portalRoles: member.portalRoles.toSorted(),
    tags: tags.toSorted(),
    languages,
  }
}

/**
 * Deactivates a member: their access ends at once, and their join links stop working. Sessions end if they have no other organization.
 * Repeatable.
 *
 * @param options.revokesKeys true to revoke the API keys they have generated; otherwise these stay valid, because systems use them.
 * @throws DomainError not_permitted, member_not_found, admin_refused; invalid: `lastAdmin`, `lastOwner`, `tooHigh`.
 */
export async function deactivateMember(ctx: Context, id: string, { revokesKeys = false } = {}): Promise<void> {
  authorize(ctx, 'manage_members')
  await changeAdmins(ctx, id, async (inside, { status, credentialId, roles, portalRoles }) => {
    refuseKeyOnAdmins(inside, roles)
    if (revokesKeys) await revokeKeysOf(inside, id) // also where somebody else has just deactivated them, and left the keys
    if (status === 'inactive') return
    refuseRoleBeyondOwn(inside, { portalRoles })
    const { db, deps, organization } = inside
    const now = deps.clock()
    await db.member.update({ where: { organizationId: organization.id, id }, data: { status: 'inactive', updatedAt: now } })
    await db.accountLink.updateMany({
      where: { organizationId: organization.id, memberId: id, kind: 'join', usedAt: null },
      data: { usedAt: now },
    })
    if (credentialId && (await unscopedPrisma(db).member.count({ where: { credentialId, status: 'active' } })) === 0)
      await endSessions(inside, { credentialId }, 'no_membership')
    await recordAudit(inside, { action: 'deactivated_member', target: { kind: 'member', id } })
  })
}

/**
 * Reactivates a member with new roles, because the earlier ones may have been the reason for deactivation. Ownership is never restored.
 *
 * @param change.roles undefined: the earlier roles, for API keys that send none; the same applies to portal roles.
 * @throws DomainError not_permitted, member_not_found, admin_refused.
 */
export async function reactivateMember(
  ctx: Context,
  id: string,
  { roles, portalRoles }: { roles?: MemberRole[]; portalRoles?: AssignablePortalRole[] } = {},
): Promise<void> {
  authorize(ctx, 'manage_members')
  await inTransaction(ctx, async (inside) => {
    const { db, deps } = inside
    const member = await lockMember(inside, id)
    const after = {
      roles: roles ? rolesAfter(member.roles, roles) : member.roles,
      portalRoles: portalRolesAfter(
        [],
        portalRoles ?? ASSIGNABLE_PORTAL_ROLES.filter((portalRole) => member.portalRoles.includes(portalRole)),
      ),
    }
    refuseKeyOnAdmins(inside, member.roles, after.roles)
    if (member.status === 'active') return
    refuseRoleBeyondOwn(inside, member)
    const now = deps.clock()
    await db.member.update({
      where: { organizationId: inside.organization.id, id },
      data: { status: 'active', activeSince: now, ...after, updatedAt: now },
    })
    const details = { ...changesOf(member, after), roles: { before: member.roles, after: after.roles } }
    await recordAudit(inside, { action: 'reactivated_member', target: { kind: 'member', id }, details })
  })
}

/** Does {@link changeMember}, and makes the member active or inactive, both or neither. */
export async function changeMemberAndStatus(
  ctx: Context,
  id: string,
  { isActive, ...change }: Partial<MemberChange> & { isActive?: boolean },
): Promise<void> {
  authorize(ctx, 'manage_members')
  await inTransaction(ctx, async (inside) => {
    // Locks the organization first, like every change of admins. Otherwise two changes would deadlock.
    await inside.db.selectFrom('organizations').select('id').forNoKeyUpdate().execute()
    if (isActive === true) await reactivateMember(inside, id)
    if (Object.keys(change).length > 0) await changeMember(inside, id, change)
    if (isActive === false) await deactivateMember(inside, id)
  })
}

/**
 * Runs a change that may remove an admin or owner, and rolls it back if nobody who can sign in would remain in the role. Such changes are
 * serialized, so that two admins can't remove each other simultaneously.
 *
 * @param work gets the locked member.
 */
export function changeAdmins(
  ctx: Context,
  id: string,
  work: (inside: Context, member: Member) => Promise<void>,
  hold = lockMember,
): Promise<void> {
  return inTransaction(ctx, async (inside) => {
    await inside.db.selectFrom('organizations').select('id').forNoKeyUpdate().execute()
    const [admins, owners] = [await countAdmins(inside), await countOwners(inside)]
    const waysBack = await countBreakGlass(inside)
    await work(inside, await hold(inside, id))
    const isLast = async (before: number, count: (ctx: Context) => Promise<number>) => before > 0 && (await count(inside)) === 0
    throwIfIssues((await isLast(owners, countOwners)) ? [{ field: '', rule: 'account', problem: 'lastOwner' }] : [])
    throwIfIssues((await isLast(admins, countAdmins)) ? [{ field: '', rule: 'account', problem: 'lastAdmin' }] : [])
    await refuseNoBreakGlass(inside, waysBack)
  })
}

const countAdmins = (ctx: Context) => countActiveMembers(ctx, { roles: { has: 'admin' } })
const countOwners = (ctx: Context) => countActiveMembers(ctx, { portalRoles: { has: 'owner' } })

const countActiveMembers = ({ db, organization }: Context, where: Prisma.MemberWhereInput): Promise<number> =>
  db.member.count({ where: { organizationId: organization.id, status: 'active', credentialId: { not: null }, ...where } })

async function findUnknown(ctx: Context, tagIds: string[], languageIds: string[]): Promise<Issue[]> {
  // Members are shared by live and test data.
  const tags = await lockTags(inMode(ctx, 'live'), tagIds)
  const languages = new Set((await listLanguages(ctx)).map(({ id }) => id))
  const unknown = (field: string, ids: string[], knownIds: Set<string>) =>
    ids.filter((id) => !knownIds.has(id)).map((value): Issue => ({ field, rule: 'reference', value }))
  return [...unknown('tags', tagIds, tags), ...unknown('languages', languageIds, languages)]
}

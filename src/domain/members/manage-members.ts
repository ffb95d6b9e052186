import { ownOrganization } from '../../db/own.ts'
import { run } from '../../db/statements.ts'
import type { Language } from '../../generated/prisma/client.ts'
import { authorize } from '../access/permissions.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { checkSize, checkText, findIssues, ofChanged } from '../checking/checks.ts'
import { refuse } from '../checking/refuse.ts'
import { refuseUnseenChanges, type Seen, timeOfChange } from '../checking/refuse-unseen-changes.ts'
import type { Context } from '../context.ts'
import type { Issue } from '../errors.ts'
import { MAX_MEMBER_LANGUAGES, MAX_MEMBER_TAGS, MAX_NAME_LENGTH } from '../limits.ts'
import { findTags, holdTags } from '../tags/tags.ts'
import { inTransaction } from '../transaction.ts'
import { holdMember, isKnownRole, MEMBER_ROLES, type Member, type MemberRole } from './members.ts'
import { refuseKeyOnAdmins } from './refuse-key-on-admins.ts'

export type { Language }

/** What an admin decides about a member. An organization's other words for a role stay as they are. */
export type MemberChange = { roles: MemberRole[]; department: string; tagIds: string[]; languageIds: string[] }

/** All languages, which organizations share, by code. */
export const listLanguages = ({ db }: Context): Promise<Language[]> => db.language.findMany({ orderBy: { code: 'asc' } })

/**
 * Gives a member these roles, tags and grading languages, and this department. What is left out stays as it is.
 *
 * @throws DomainError not_permitted, member_not_found, admin_refused; invalid: too much of anything, what is unknown (`reference`), `lastAdmin`, or
 *   `changed` for what somebody else has changed since it was seen.
 */
export async function changeMember(ctx: Context, id: string, change: Partial<MemberChange>, seen?: Seen): Promise<void> {
  authorize(ctx, 'manage_members')
  await changeAdmins(ctx, id, async (inside, member) => {
    const { department = member.department, roles = member.roles } = change
    refuseKeyOnAdmins(inside, member.roles, roles)
    const tagIds = [...new Set(change.tagIds ?? member.tagIds)]
    const languageIds = [...new Set(change.languageIds ?? member.gradingLanguageIds)]
    const issues = findIssues([
      ['department', checkText(department, MAX_NAME_LENGTH)],
      ['tags', checkSize('maxItems', tagIds.length, MAX_MEMBER_TAGS)],
      ['languages', checkSize('maxItems', languageIds.length, MAX_MEMBER_LANGUAGES)],
    ])
    const wanted = { department, tags: tagIds.toSorted(), languages: languageIds.toSorted() }
    const current = {
      department: member.department,
      tags: member.tagIds.toSorted(),
      languages: member.gradingLanguageIds.toSorted(),
    }
    refuse(ofChanged(issues, current, wanted))
    refuse(await findUnknown(inside, tagIds, languageIds))
    const { db, deps, organization } = inside
    const others = member.roles.filter((role) => !isKnownRole(role))
    const data = { roles: [...others, ...MEMBER_ROLES.filter((role) => roles.includes(role))], department: department.trim() }
    const named = await nameLists(inside, { ...current, roles: member.roles })
    refuseUnseenChanges(member, seen, named, await nameLists(inside, { ...wanted, ...data }))
    await db.member.update({ where: { id }, data: { ...data, updatedAt: timeOfChange(deps.clock(), member) } })
    const row = { organizationId: organization.id, memberId: id }
    await db.memberTag.deleteMany({ where: row })
    await db.memberTag.createMany({ data: tagIds.map((tagId, position) => ({ ...row, tagId, position })) })
    await db.memberGradingLanguage.deleteMany({ where: row })
    await db.memberGradingLanguage.createMany({
      data: languageIds.map((languageId, position) => ({ ...row, languageId, position })),
    })
    const isSame = data.roles.length === member.roles.length && data.roles.every((role) => member.roles.includes(role))
    const details = isSame ? {} : { roles: { before: member.roles, after: data.roles } }
    await recordAudit(inside, { action: 'changed_member', target: { kind: 'member', id }, details })
  })
}

/** A member as people read it: tags by name, languages by code, and whatever may stand in any order in one. */
async function nameLists<T extends { roles: string[]; tags: string[]; languages: string[] }>(
  ctx: Context,
  member: T,
): Promise<T> {
  const tags = (await findTags(ctx, member.tags)).map(({ name }) => name)
  const languages = (await listLanguages(ctx)).filter(({ id }) => member.languages.includes(id)).map(({ code }) => code)
  return { ...member, roles: member.roles.toSorted(), tags: tags.toSorted(), languages }
}

/**
 * Deactivates a member: the organization is closed to them at once, and their links to join are of no use. The sessions of somebody who
 * is an active member of no other organization end. One who is inactive already stays so.
 *
 * @throws DomainError not_permitted, member_not_found, admin_refused; invalid: `lastAdmin`.
 */
export async function deactivateMember(ctx: Context, id: string): Promise<void> {
  authorize(ctx, 'manage_members')
  await changeAdmins(ctx, id, async (inside, { status, credentialId, roles }) => {
    refuseKeyOnAdmins(inside, roles)
    if (status === 'inactive') return
    const { db, deps, organization } = inside
    const now = deps.clock()
    await db.member.update({ where: { id }, data: { status: 'inactive', updatedAt: now } })
    await db.accountLink.updateMany({
      where: { organizationId: organization.id, memberId: id, kind: 'join', usedAt: null },
      data: { usedAt: now },
    })
    if (credentialId && (await db.member.count({ where: { credentialId, status: 'active' } })) === 0)
      await db.session.deleteMany({ where: { credentialId } })
    await recordAudit(inside, { action: 'deactivated_member', target: { kind: 'member', id } })
  })
}

/** Lets a member in again, with the roles they had, once they sign in anew. @throws DomainError not_permitted, member_not_found, admin_refused. */
export async function reactivateMember(ctx: Context, id: string): Promise<void> {
  authorize(ctx, 'manage_members')
  await inTransaction(ctx, async (inside) => {
    const { db, deps } = inside
    const { status, roles } = await holdMember(inside, id)
    refuseKeyOnAdmins(inside, roles)
    if (status === 'active') return
    const now = deps.clock()
    await db.member.update({ where: { id }, data: { status: 'active', activeSince: now, updatedAt: now } })
    await recordAudit(inside, { action: 'reactivated_member', target: { kind: 'member', id } })
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
    // The organization first, as whoever changes admins: of two at once each would hold what the other waits for.
    await run(inside.db, ownOrganization(inside).select('id').forNoKeyUpdate())
    if (isActive === true) await reactivateMember(inside, id)
    if (Object.keys(change).length > 0) await changeMember(inside, id, change)
    if (isActive === false) await deactivateMember(inside, id)
  })
}

/**
 * Does what may take an admin away, and takes it back when nobody would be left who can sign in as one. Such changes wait for each
 * other, so that of two admins who remove each other at once one remains; inviting and everything else goes on.
 *
 * @param work gets the member as it is while nobody else changes it.
 */
function changeAdmins(ctx: Context, id: string, work: (inside: Context, member: Member) => Promise<void>): Promise<void> {
  return inTransaction(ctx, async (inside) => {
    await run(inside.db, ownOrganization(ctx).select('id').forNoKeyUpdate())
    const before = await countAdmins(inside)
    await work(inside, await holdMember(inside, id))
    const isLastGone = before > 0 && (await countAdmins(inside)) === 0
    refuse(isLastGone ? [{ field: '', rule: 'account', problem: 'lastAdmin' }] : [])
  })
}

/** Those who can sign in as an admin. */
const countAdmins = ({ db, organization }: Context): Promise<number> =>
  db.member.count({
    where: { organizationId: organization.id, status: 'active', roles: { has: 'admin' }, credentialId: { not: null } },
  })

async function findUnknown(ctx: Context, tagIds: string[], languageIds: string[]): Promise<Issue[]> {
  const tags = await holdTags(ctx, tagIds)
  const languages = new Set((await listLanguages(ctx)).map(({ id }) => id))
  const unknown = (field: string, ids: string[], known: Set<string>) =>
    ids.filter((id) => !known.has(id)).map((value): Issue => ({ field, rule: 'reference', value }))
  return [...unknown('tags', tagIds, tags), ...unknown('languages', languageIds, languages)]
}

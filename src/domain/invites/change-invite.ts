import { scopeWhere } from '../../db/queries.ts'
import { anyOf } from '../../db/query.ts'
import type { Prisma } from '../../generated/prisma/client.ts'
import { recordByMember } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { type InviteChanges, inviteUpdated } from '../events/event.ts'
import { recordEvents } from '../events/record-events.ts'
import { MAX_INVITE_TAGS } from '../limits.ts'
import { lockTags } from '../tags/tags.ts'
import { inTransaction } from '../transaction.ts'
import { checkSize, checkUuid, findIssues } from '../validation/checks.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import { resolveInviteReferences } from './create-invite.ts'
import { requireVisibleInvite } from './invites.ts'
import { lockInvite } from './operate-invite.ts'

// Changes of an existing invite in any status. Beyond both documents.

/**
 * Assigns who grades it.
 *
 * @param graderId null: nobody.
 * @throws DomainError invite_not_found; invalid (rule `reference` or `grader`) unless it is an active member who may grade.
 */
export async function assignGrader(ctx: Context, inviteId: string, graderId: string | null): Promise<void> {
  await changeInvite(ctx, inviteId, async (inside) => {
    throwIfIssues(findIssues([['assignedGraderId', graderId === null ? undefined : checkUuid(graderId)]]))
    const { issues } = await resolveInviteReferences(inside, { assignedGraderId: graderId, tagIds: [] })
    throwIfIssues(issues)
    if (!(await setGrader(inside, inviteId, graderId))) return
    const target = { kind: 'invite', id: inviteId } as const
    await recordByMember(inside, { action: 'assigned_grader', target, details: { graderId } })
  })
}

/**
 * Writes who grades it, and the event of that.
 *
 * @param inside a transaction that holds the invite. @param graderId checked by the caller.
 * @returns false when nothing changes.
 */
export async function setGrader(inside: Context, inviteId: string, graderId: string | null): Promise<boolean> {
  const key = { ...scopeWhere(inside), id: inviteId }
  const { assignedGraderId: before } = await inside.db.invite.findFirstOrThrow({
    where: key,
    select: { assignedGraderId: true },
  })
  const after = graderId?.toLowerCase() ?? null
  if (before === after) return false
  await updateInvite(inside, key, { assignedGraderId: after }, { assignedGraderId: { before, after } })
  return true
}

type InviteKey = ReturnType<typeof scopeWhere> & { id: string }

/** Updates the invite's row, at least its `updatedAt`, and records the event with the changed fields. */
export async function updateInvite(
  inside: Context,
  where: InviteKey,
  data: Prisma.InviteUncheckedUpdateManyInput,
  changes: InviteChanges,
): Promise<void> {
  const updated = await inside.db.invite.updateManyAndReturn({ where, data: { ...data, updatedAt: inside.deps.clock() } })
  await recordEvents(
    inside,
    updated.map((invite) => inviteUpdated(invite, changes)),
  )
}

/** Adds a tag, unless the invite has it. @throws DomainError invite_not_found; invalid: a tag of none, or more than MAX_INVITE_TAGS. */
export async function tagInvite(ctx: Context, inviteId: string, tagId: string): Promise<void> {
  await changeTags(ctx, inviteId, (tagIds) => [...tagIds, tagId])
}

/** Takes a tag off; one that the invite does not have is no error. @throws DomainError invite_not_found. */
export async function untagInvite(ctx: Context, inviteId: string, tagId: string): Promise<void> {
  await changeTags(ctx, inviteId, (tagIds) => tagIds.filter((id) => id !== tagId.toLowerCase()))
}

/** Replaces an invite's tags. Tags that it keeps keep their position; new ones come last. @throws DomainError as tagInvite. */
export async function replaceTags(ctx: Context, inviteId: string, tagIds: string[]): Promise<void> {
  await changeTags(ctx, inviteId, () => tagIds)
}

async function changeTags(ctx: Context, inviteId: string, choose: (tagIds: string[]) => string[]): Promise<void> {
  await changeInvite(ctx, inviteId, async (inside, where) => {
    const { db } = inside
    const key = { ...scopeWhere(inside), inviteId }
    const present = await db.inviteTag.findMany({ where: key, select: { tagId: true, position: true } })
    const before = present.map(({ tagId }) => tagId)
    const chosen = choose(before)
    throwIfIssues(findIssues(chosen.map((id) => ['tagIds', checkUuid(id)])))
    const wanted = [...new Set(chosen.map((id) => id.toLowerCase()))]
    const added = wanted.filter((id) => !before.includes(id))
    const removed = before.filter((id) => !wanted.includes(id))
    const tags = await lockTags(inside, [...added, ...removed])
    throwIfIssues(added.filter((id) => !tags.has(id)).map((value) => ({ field: 'tagIds', rule: 'reference', value })))
    const excess = added.length > 0 ? checkSize('maxItems', wanted.length, MAX_INVITE_TAGS) : undefined
    throwIfIssues(excess ? [{ field: 'tagIds', ...excess }] : [])
    if (added.length + removed.length === 0) return
    if (removed.length > 0) await db.inviteTag.deleteMany({ where: { ...key, tagId: anyOf(removed) } })
    const last = Math.max(-1, ...present.map(({ position }) => position))
    if (added.length > 0)
      await db.inviteTag.createMany({ data: added.map((tagId, i) => ({ ...key, tagId, position: last + 1 + i })) })
    await updateInvite(inside, where, {}, { tagIds: { added, removed } })
    const target = { kind: 'invite', id: inviteId } as const
    for (const tagId of added) await recordByMember(inside, { action: 'tagged_invite', target, details: { tagId } })
    for (const tagId of removed) await recordByMember(inside, { action: 'untagged_invite', target, details: { tagId } })
  })
}

/** Makes a change while the invite is locked. @throws DomainError not_permitted, invite_not_found. */
export async function changeInvite(
  ctx: Context,
  inviteId: string,
  work: (inside: Context, where: InviteKey) => Promise<void>,
): Promise<void> {
  authorize(ctx, 'operate_invites')
  await inTransaction(ctx, async (inside) => {
    await lockInvite(inside, inviteId)
    await requireVisibleInvite(inside, inviteId)
    await work(inside, { ...scopeWhere(inside), id: inviteId })
  })
}

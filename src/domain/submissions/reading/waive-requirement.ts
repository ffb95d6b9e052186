import { scopeWhere } from '../../../db/queries.ts'
import { recordByMember } from '../../audit/record-audit.ts'
import type { Context } from '../../context.ts'
import { changeInvite } from '../../invites/change-invite.ts'
import { checkChoice, findIssues } from '../../validation/checks.ts'
import { throwIfIssues } from '../../validation/throw-if-issues.ts'
import { REQUIREMENTS, type Requirement } from '../needs.ts'

/** Note in the session when a requirement is waived during the test. */
export const waivedNoteOf = <R extends Requirement>(requirement: R): `waived_${R}` => `waived_${requirement}`

/**
 * Lets a candidate start, or go on, without something that can't be met.
 *
 * @throws DomainError invite_not_found, not_permitted; invalid for what nobody needs.
 */
export async function waiveRequirement(ctx: Context, inviteId: string, requirement: string): Promise<void> {
  await changeInvite(ctx, inviteId, async (inside, where) => {
    throwIfIssues(findIssues([['requirement', checkChoice(requirement, REQUIREMENTS)]]))
    const { waivedChecks } = await inside.db.invite.findFirstOrThrow({ where, select: { waivedChecks: true } })
    if (waivedChecks.includes(requirement)) return
    const data = { waivedChecks: [...waivedChecks, requirement], updatedAt: inside.deps.clock() }
    await inside.db.invite.updateMany({ where, data })
    await noteInSession(inside, inviteId, requirement as Requirement)
    const target = { kind: 'invite', id: inviteId } as const
    await recordByMember(inside, { action: 'waived_requirement', target, details: { requirement } })
  })
}

/** From when on it was waived, where the assessment is being taken. */
async function noteInSession(ctx: Context, inviteId: string, requirement: Requirement): Promise<void> {
  const { db, deps, organization } = ctx
  const organizationId = organization.id
  const where = { ...scopeWhere(ctx), inviteId, state: 'in_progress' } as const
  const startedSubmission = await db.submission.findFirst({ where, select: { id: true } })
  if (!startedSubmission) return
  const sessionEvent = {
    id: deps.newId(),
    organizationId,
    submissionId: startedSubmission.id,
    kind: waivedNoteOf(requirement),
    at: deps.clock(),
  }
  await db.sessionEvent.create({ data: sessionEvent })
}

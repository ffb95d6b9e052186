import { recordByMember } from '../audit.ts'
import { checkChoice, findIssues } from '../checks.ts'
import type { Context } from '../context.ts'
import { changeInvite } from '../invites/change.ts'
import { refuse } from '../refuse.ts'
import { REQUIREMENTS } from './needs.ts'

/**
 * Lets a candidate start without something that can't be met.
 *
 * @throws DomainError invite_not_found, not_permitted; invalid for what nobody needs.
 */
export async function waiveRequirement(ctx: Context, inviteId: string, requirement: string): Promise<void> {
  await changeInvite(ctx, inviteId, async (inside, where) => {
    refuse(findIssues([['requirement', checkChoice(requirement, REQUIREMENTS)]]))
    const { waivedChecks } = await inside.db.invite.findFirstOrThrow({ where, select: { waivedChecks: true } })
    if (waivedChecks.includes(requirement)) return
    const data = { waivedChecks: [...waivedChecks, requirement], updatedAt: inside.deps.clock() }
    await inside.db.invite.updateMany({ where, data })
    const target = { kind: 'invite', id: inviteId } as const
    await recordByMember(inside, { action: 'waived_requirement', target, details: { requirement } })
  })
}

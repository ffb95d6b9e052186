import { scopeWhere } from '../../../db/queries.ts'
import { recordAudit } from '../../audit/record-audit.ts'
import { authorize, may } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { DomainError, type Issue } from '../../errors.ts'
import { DECISIONS, type Decision, submissionDecided } from '../../events/event.ts'
import { recordEvents } from '../../events/record-events.ts'
import { MAX_COMMENT_LENGTH } from '../../limits.ts'
import { displayNameOf } from '../../text/display-name.ts'
import { isUuid } from '../../text/uuid.ts'
import { inTransaction } from '../../transaction.ts'
import { checkChoice, checkText, findIssues } from '../../validation/checks.ts'
import { throwIfIssues } from '../../validation/throw-if-issues.ts'
import { lockInvite } from '../operate-invite.ts'

// Decisions of an organization about candidates. They change nothing for the candidate, who never sees them.

export type NewDecision = { decision: string; note: string }

export const findDecisionIssues = ({ decision, note }: NewDecision): Issue[] =>
  findIssues([
    ['decision', checkChoice(decision, DECISIONS)],
    ['note', checkText(note, MAX_COMMENT_LENGTH)],
  ])

/** @throws DomainError not_permitted; submission_not_found; invalid. */
export async function decide(ctx: Context, submissionId: string, decision: NewDecision): Promise<void> {
  authorize(ctx, 'decide')
  const where = { ...scopeWhere(ctx), id: submissionId }
  const found = isUuid(submissionId) ? await ctx.db.submission.findFirst({ where, select: { inviteId: true } }) : null
  if (!found) throw new DomainError('submission_not_found')
  await decideOnInvite(ctx, found.inviteId, decision)
}

/**
 * Decides about the completed submission of an invite. Another decision records an event; another note alone records none.
 *
 * @throws DomainError not_permitted; invite_not_found; invalid: a field, or `notCompleted`.
 */
export async function decideOnInvite(ctx: Context, inviteId: string, { decision, note }: NewDecision): Promise<void> {
  authorize(ctx, 'decide')
  await inTransaction(ctx, async (inside) => {
    const { actor, db, deps } = inside
    await lockInvite(inside, inviteId)
    const invite = await db.invite.findFirst({ where: { ...scopeWhere(inside), id: inviteId } })
    if (!invite) throw new DomainError('invite_not_found')
    const submission = await db.submission.findFirst({
      where: { ...scopeWhere(inside), inviteId, state: { in: ['submitted', 'released'] } },
      orderBy: [{ submittedAt: 'desc' }, { id: 'desc' }],
      select: { id: true, decision: true, decisionNote: true },
    })
    if (!submission) throw new DomainError('invalid', { issues: [{ field: '', rule: 'account', problem: 'notCompleted' }] })
    throwIfIssues(findDecisionIssues({ decision, note }))
    if (submission.decision === decision && submission.decisionNote === note) return
    await db.submission.updateMany({
      where: { ...scopeWhere(inside), id: submission.id },
      data: { decision, decisionNote: note, decidedById: actor.kind === 'member' ? actor.id : null, decidedAt: deps.clock() },
    })
    if (submission.decision !== decision)
      await recordEvents(inside, [submissionDecided(invite, submission.id, decision as Decision)])
    await recordAudit(inside, { action: 'decided', target: { kind: 'invite', id: inviteId }, details: { decision } })
  })
}

/** A submission's decision. @property decidedBy null: nobody has decided. */
export type SavedDecision = { decision: string; note: string; decidedAt: Date | null; decidedBy: string | null }

/** Decision of a completed submission; null before it is completed, and for actors who may not decide. */
export async function findDecision(ctx: Context, submissionId: string): Promise<SavedDecision | null> {
  if (!may(ctx, 'decide')) return null
  const found = await ctx.db.submission.findFirst({
    where: { ...scopeWhere(ctx), id: submissionId, state: { in: ['submitted', 'released'] } },
    select: { decision: true, decisionNote: true, decidedAt: true, decidedBy: { select: { user: true } } },
  })
  if (!found) return null
  const { decision, decisionNote: note, decidedAt, decidedBy } = found
  return { decision, note, decidedAt, decidedBy: decidedBy && displayNameOf(decidedBy.user) }
}

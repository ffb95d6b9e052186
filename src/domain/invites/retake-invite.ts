import { sql } from '../../db/builder.ts'
import type { SqlBool } from '../../db/queries.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { mayGrade } from '../members/graders.ts'
import { inTransaction } from '../transaction.ts'
import { createInvite } from './create-invite.ts'
import { getInvite, type Invite } from './invites.ts'
import { createMoveError } from './move-invite.ts'
import { pickTerms } from './new-invite.ts'
import { lockInvite } from './operate-invite.ts'

// Further attempts at an assessment by candidates who have completed it. Not part of v1.md or alternate.md.

/** Mail options, as in createInvite. */
export type Retake = { expiresInDays?: number | undefined; sendEmail?: boolean | undefined }

/**
 * Creates a retake: a new invite with the settings of a completed one. A grader without permission to grade is left out.
 *
 * @throws DomainError not_permitted, invite_not_found; move_not_allowed unless it is completed; duplicate_invite with the id of an existing
 *   retake; invalid.
 */
export async function retakeInvite(ctx: Context, id: string, { expiresInDays, sendEmail }: Retake): Promise<Invite> {
  authorize(ctx, 'invite')
  return inTransaction(ctx, async (inside) => {
    await lockInvite(inside, id)
    const invite = await getInvite(inside, id)
    if (invite.status !== 'completed') throw createMoveError('retake', invite.status)
    const { assessmentId, recipientEmail, tagIds, assignedGrader } = invite
    const terms = { ...pickTerms(invite), ...(assignedGrader && !mayGrade(assignedGrader) && { assignedGraderId: null }) }
    const language = invite.chosenLanguage ?? terms.language
    const input = { ...terms, language, assessmentId, recipientEmail, tagIds, expiresInDays, sendEmail }
    return createInvite(inside, input, { retakeOf: invite })
  })
}

/** Id of the next attempt; null if there is none. */
export async function findRetake(ctx: Context, invite: Invite): Promise<string | null> {
  const after = ctx.db
    .selectFrom('invites')
    .where('assessmentId', '=', invite.assessmentId)
    .where('mode', '=', invite.mode)
    .where(({ ref }) => sql<SqlBool>`address_key(${ref('recipientEmail')}) = address_key(${invite.recipientEmail})`)
    .where('attempt', '=', invite.attempt + 1)
  return (await after.select('id').executeTakeFirst())?.id ?? null
}

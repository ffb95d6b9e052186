import { may } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'

// Blind grading: whoever grades, but for admins, does not learn whose answers they are. Of an assessment that is graded so they see the
// grading pages alone: its invites, what was sent in for them, and its results are not for them, also where they are its client.

type Assessment = { blindGrading: boolean }
type Named = { id: string; invite: { recipientName: string | null; recipientEmail: string }; assessment: Assessment }

/** Whether the context's actor may not know who the candidates of blind assessments are. */
export const gradesBlindly = (ctx: Context): boolean => may(ctx, 'grade') && !may(ctx, 'read')

/** Whether the context's actor may not know who the candidates of that assessment are. */
export const isBlindTo = (ctx: Context, { blindGrading }: Assessment): boolean => blindGrading && gradesBlindly(ctx)

/** What the candidate of a submission is called to the context's actor: by name or address, or by a part of its id that tells no time. */
export const candidateName = (ctx: Context, { id, invite, assessment }: Named): string =>
  isBlindTo(ctx, assessment) ? `Candidate ${id.slice(-4).toUpperCase()}` : (invite.recipientName ?? invite.recipientEmail)

import { may } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'

// Blind grading: graders who are no admins don't learn the candidate's identity. They only see the grading pages of such an assessment, not
// its invites, submissions, or results, even if they are its client.

type Assessment = { blindGrading: boolean }
type Named = { id: string; invite: { recipientName: string | null; recipientEmail: string }; assessment: Assessment }

/** True if the actor may not see candidates of blind assessments. */
export const gradesBlindly = (ctx: Context): boolean => may(ctx, 'grade') && !may(ctx, 'read')

/** True if the actor may not see candidates of this assessment. */
export const isBlindTo = (ctx: Context, { blindGrading }: Assessment): boolean => blindGrading && gradesBlindly(ctx)

/** Name or address of a candidate, or, if the actor grades blindly, random characters of the submission's id. */
export const candidateName = (ctx: Context, { id, invite, assessment }: Named): string =>
  isBlindTo(ctx, assessment) ? `Candidate ${id.slice(-4).toUpperCase()}` : (invite.recipientName ?? invite.recipientEmail)

import type { OtherInvite } from '../../../domain/candidates/read-candidate.ts'
import type { Context } from '../../../domain/context.ts'
import type { ListedEmail } from '../../../domain/invites/emails.ts'
import type { Choice } from '../../../domain/invites/form-options.ts'
import type { InviteDetail } from '../../../domain/invites/invites.ts'
import type { PlannedReminder } from '../../../domain/invites/reminders/plan-reminders.ts'
import type { Timeline } from '../../../domain/invites/timeline.ts'
import type { Member } from '../../../domain/members/members.ts'
import type { QueuedSubmission } from '../../../domain/submissions/grading/queue.ts'
import type { ReleasedResult } from '../../../domain/submissions/grading/results.ts'
import type { Requirement } from '../../../domain/submissions/needs.ts'
import type { ListedTag } from '../../../domain/tags/tags.ts'

/** An invite as far as the reader may see it. */
export type InviteFacts = {
  ctx: Context
  invite: InviteDetail
  createdBy: Member | undefined
  /** Id of the next attempt. */
  retake: string | null
  tags: ListedTag[]
  emails: ListedEmail[]
  /** True for a pending invite whose newest invitation email failed or bounced. */
  isUndelivered: boolean
  /** Planned and skipped reminders. */
  reminders: PlannedReminder[]
  timeline: Timeline
  /** The submission, if it is not released. */
  queued: QueuedSubmission | null
  released: ReleasedResult | null
  siblingInvites: OtherInvite[]
  /** Choices for its actions; null for members who may only read it. */
  operations: { link: string; named: string; tagChoices: Choice[]; graders: Choice[]; requirements: Requirement[] } | null
  done: string | undefined
  /** Name of the form that was refused. */
  sent: string | undefined
}

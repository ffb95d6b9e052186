import type { OtherInvite } from '../../../domain/candidates/read-candidate.ts'
import type { Context } from '../../../domain/context.ts'
import type { InviteEmailRow } from '../../../domain/invites/emails.ts'
import type { Named } from '../../../domain/invites/form-options.ts'
import type { InviteDetail } from '../../../domain/invites/invites.ts'
import type { PlannedReminder } from '../../../domain/invites/reminders/plan.ts'
import type { Timeline } from '../../../domain/invites/timeline.ts'
import type { Member } from '../../../domain/members/members.ts'
import type { Queued } from '../../../domain/submissions/grading/queue.ts'
import type { Released } from '../../../domain/submissions/grading/results.ts'
import type { Requirement } from '../../../domain/submissions/needs.ts'
import type { Tag } from '../../../domain/tags/tags.ts'

/** What there is to know of an invite, as far as whoever looks may know it. */
export type InviteFacts = {
  ctx: Context
  invite: InviteDetail
  createdBy: Member | undefined
  /** The attempt after it. */
  retake: string | null
  tags: Tag[]
  emails: InviteEmailRow[]
  /** Pending, and the newest invitation email failed or came back. */
  isUndelivered: boolean
  /** What is planned, or was left out. */
  reminders: PlannedReminder[]
  timeline: Timeline
  /** What was handed in and is not released. */
  queued: Queued | null
  released: Released | null
  others: OtherInvite[]
  /** What can be done with it, by who may: null for who may only look. */
  operations: { link: string; named: string; tagChoices: Named[]; graders: Named[]; requirements: Requirement[] } | null
  done: string | undefined
  /** The name of the form that was sent, where something is wrong with it. */
  sent: string | undefined
}

import type { PageLink } from '../../domain/ports/page-links.ts'
import type { Requirement } from '../../domain/submissions/needs.ts'

/** Data for mails to candidates. */
export type CandidateFacts = {
  organization: string
  assessment: string
  recipientName: string | null
  customMessage: string
  /** Written for this one mail. */
  message: string
  /** The organization's footer of invitations. */
  invitationText: string
  questionCount: number
  /** Seconds for the whole assessment; 0: unlimited. */
  timeLimit: number
  requirements: readonly Requirement[]
  /** Name of the contact person; null if unknown. */
  invitedBy: string | null
  expiresAt: Date
  /** Days from queueing the mail until the invite expires. */
  daysLeft: number
  /** `byClock`: the time limit ended the test. null: not submitted. */
  submission: { at: Date; byClock: boolean } | null
  url: string
  unsubscribeUrl: string
  /** The organization's legal pages, in the mail's language. */
  links: readonly { link: PageLink; url: string }[]
  /** The organization's custom text; null: the default. */
  template: { subject: string; body: string } | null
}

import type { PageLink } from '../../domain/ports/page-links.ts'
import type { Requirement } from '../../domain/submissions/needs.ts'

/** What mails to candidates are made of. */
export type CandidateFacts = {
  organization: string
  assessment: string
  recipientName: string | null
  customMessage: string
  /** Written by the sender for this one email. */
  message: string
  /** Of the organization, below each invitation. */
  invitationText: string
  questionCount: number
  /** Of the whole, in seconds; 0: there is none. */
  timeLimit: number
  /** What a candidate has to have, or to let be seen. */
  requirements: readonly Requirement[]
  /** Who of the organization; null where nobody is known. */
  invitedBy: string | null
  expiresAt: Date
  /** Until then, from when it was queued. */
  daysLeft: number
  /** When it was handed in, and whether that was by the clock; null: it was not. */
  handedIn: { at: Date; byClock: boolean } | null
  url: string
  unsubscribeUrl: string
  /** Where the organization says who it is, in the language of the mail. */
  links: readonly { link: PageLink; url: string }[]
  /** The organization's own text; null: ours. */
  template: { subject: string; body: string } | null
}

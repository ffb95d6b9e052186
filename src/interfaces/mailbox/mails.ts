import type { ServiceContext } from '../../domain/context.ts'
import { findEmail, type InviteEmail, listEmails } from '../../domain/invites/emails.ts'
import { findMemberEmail, listMemberEmails, type MemberEmail, recipientOf } from '../../domain/mails/member-emails.ts'
import { findRegistration, listRegistrationEmails, type RegistrationEmail } from '../../domain/open-links/registration-emails.ts'

/** The parts of a rendered mail that the pages show. */
type Message = {
  subject: string
  html: string
  text: string
  to: { name: string; address: string }
  from: string | { name: string; address: string }
  replyTo: string | { address: string }
  messageId: string
}

/** Renders an email. */
export type RenderMails = {
  invitation: (email: InviteEmail) => Message
  toMember: (email: MemberEmail) => Message
  toVisitor: (email: RegistrationEmail) => Message
}

/** A mail of any kind. */
export type Mail = {
  id: string
  state: string
  reason: string
  createdAt: Date
  /** Searched text: the recipient and the values of the subject. */
  words: string
  render: () => Message
}

/** The newest mails. Ids increase with time. @param window.before limits the list to mails older than this id. */
export async function listMails(
  system: ServiceContext,
  render: RenderMails,
  window: { before?: string; limit: number },
): Promise<Mail[]> {
  const [invitations, toMembers, toVisitors] = await Promise.all([
    listEmails(system, window),
    listMemberEmails(system, window),
    listRegistrationEmails(system, window),
  ])
  const mails = [
    ...invitations.map((email) => toInviteMail(email, render)),
    ...toMembers.map((email) => toMemberMail(email, render)),
    ...toVisitors.map((email) => toVisitorMail(email, render)),
  ]
  return mails.sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, window.limit)
}

/** @returns null if there is no such mail. */
export async function findMail(system: ServiceContext, render: RenderMails, id: string): Promise<Mail | null> {
  const invitation = await findEmail(system, id)
  if (invitation) return toInviteMail(invitation, render)
  const toMember = await findMemberEmail(system, id)
  if (toMember) return toMemberMail(toMember, render)
  const toVisitor = await findRegistration(system, id)
  return toVisitor && toVisitorMail(toVisitor, render)
}

function toInviteMail(email: InviteEmail, render: RenderMails): Mail {
  const { recipientEmail, recipientName, organization, assessment } = email.invite
  return {
    ...email,
    words: wordsOf(recipientEmail, recipientName, organization.name, assessment.name),
    render: () => render.invitation(email),
  }
}

function toMemberMail(email: MemberEmail, render: RenderMails): Mail {
  const { user, organization } = email.member
  const words = wordsOf(recipientOf(email), user.firstName, user.lastName, organization.name)
  return { ...email, words, render: () => render.toMember(email) }
}

function toVisitorMail(email: RegistrationEmail, render: RenderMails): Mail {
  const { name, organization } = email.openLink.assessment
  return { ...email, words: wordsOf(email.email, email.name, organization.name, name), render: () => render.toVisitor(email) }
}

const wordsOf = (...texts: (string | null)[]): string => texts.join(' ').toLowerCase()

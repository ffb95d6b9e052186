import { type Command, Option } from 'commander'
import { defined } from '../domain/defined.ts'
import {
  EMAIL_STATES,
  findEmail,
  type InviteEmail,
  listEmails,
  retryFailedEmail,
  retryFailedEmails,
} from '../domain/invites/emails.ts'
import { invitationUrl } from '../domain/invites/links.ts'
import { renderInvitation } from '../mail/invitation-email.ts'
import type { MailSettings } from '../mail/message.ts'
import { EXIT_WRONG_USAGE } from './exit-codes.ts'
import { type Output, type OutputOptions, table } from './output.ts'
import { addCommand, parseCount, perform } from './session.ts'

type ListOptions = OutputOptions & { state?: (typeof EMAIL_STATES)[number]; limit: number }

const MAX_LISTED = 10_000
const SHOWN_REASON_LENGTH = 80

/** `mail list | show | retry`. */
export function addMailCommands(program: Command): void {
  const mail = program.command('mail').description("the invitations' mails")

  addCommand(mail, 'list', 'list the newest mails')
    .addOption(new Option('--state <state>').choices(EMAIL_STATES))
    .addOption(new Option('--limit <count>').argParser(parseCount(MAX_LISTED)).default(50))
    .action((options: ListOptions) =>
      perform(options, async ({ operator }) => {
        const emails = await listEmails(operator, defined({ limit: options.limit, state: options.state }))
        return { text: toTable(emails), json: emails.map(toJson) }
      }),
    )

  addCommand(mail, 'show', 'show a mail with its link, rendered anew')
    .argument('<id>', 'see: mail list')
    .action((id: string, options: OutputOptions) =>
      perform(options, async ({ operator, mailSettings }) => {
        const email = await findEmail(operator, id)
        if (!email) throw new Error(`There is no mail ${id}.`)
        return showEmail(mailSettings, email)
      }),
    )

  const retry = addCommand(mail, 'retry', 'queue failed mails again')
    .argument('[id]', 'one failed mail')
    .option('--all', 'all failed mails')
  retry.action((id: string | undefined, options: OutputOptions & { all?: true }) => {
    if ((id === undefined) === (options.all === undefined))
      retry.error('error: name one mail, or give --all', { exitCode: EXIT_WRONG_USAGE })
    return perform(options, async ({ operator }) => {
      const count = id === undefined ? await retryFailedEmails(operator) : await retryFailedEmail(operator, id)
      if (id !== undefined && count === 0) throw new Error(`There is no failed mail ${id}.`)
      return { text: `${count} ${count === 1 ? 'mail' : 'mails'} queued again.\n`, json: { queued: count } }
    })
  })
}

function showEmail(settings: MailSettings, email: InviteEmail): Output {
  const { messageId, from, to, replyTo, subject, headers, text, html } = renderInvitation(settings, email)
  const link = invitationUrl(settings, { inviteId: email.inviteId, linkVersion: email.linkVersion })
  const fields = {
    From: addressOf(from),
    To: addressOf(to),
    'Reply-To': addressOf(replyTo),
    Subject: subject,
    'Message-ID': messageId,
    ...headers,
  }
  const lines = [
    ...Object.entries(fields).map(([name, value]) => `${name}: ${value}`),
    '',
    text.trimEnd(),
    '',
    `State: ${email.state}, after ${email.attempts} attempts${email.reason && ` (${email.reason})`}`,
    `Link: ${link}`,
  ]
  return { text: `${lines.join('\n')}\n`, json: { ...toJson(email), headers: fields, link, text, html } }
}

const addressOf = (mailbox: string | { name: string; address: string }): string => {
  if (typeof mailbox === 'string') return mailbox
  return mailbox.name ? `${mailbox.name} <${mailbox.address}>` : mailbox.address
}

const toTable = (emails: InviteEmail[]): string =>
  table(
    ['ID', 'STATE', 'CREATED', 'ATTEMPTS', 'TO', 'ORGANIZATION', 'REASON'],
    emails.map(({ id, state, createdAt, attempts, reason, invite }) => [
      id,
      state,
      createdAt.toISOString(),
      attempts,
      invite.recipientEmail,
      invite.organization.name,
      reason.replace(/\s+/g, ' ').slice(0, SHOWN_REASON_LENGTH),
    ]),
  )

const toJson = ({ id, state, attempts, reason, createdAt, sentAt, inviteId, invite }: InviteEmail) => ({
  id,
  state,
  attempts,
  reason,
  createdAt,
  sentAt,
  inviteId,
  recipientEmail: invite.recipientEmail,
  organization: invite.organization.name,
  assessment: invite.assessment.name,
})

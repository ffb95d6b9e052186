import { type Command, InvalidArgumentError, Option } from 'commander'
import type { ServiceContext } from '../domain/context.ts'
import { omitUndefined } from '../domain/fields/omit-undefined.ts'
import { EMAIL_STATES, findEmail, type InviteEmail, listEmails, retryEmails, retryFailedEmail } from '../domain/invites/emails.ts'
import { bringMailProbeForward } from '../domain/mails/mail-outage.ts'
import {
  findMemberEmail,
  listMemberEmails,
  type MemberEmail,
  recipientOf,
  retryMemberEmails,
} from '../domain/mails/member-emails.ts'
import { findRegistration, listRegistrationEmails, type RegistrationEmail } from '../domain/open-links/registration-emails.ts'
import { renderInviteEmail } from '../mail/invite-email.ts'
import { renderMemberEmail } from '../mail/member-email.ts'
import type { MailSettings, Message } from '../mail/message.ts'
import { renderRegistrationEmail } from '../mail/registration-email.ts'
import { EXIT_WRONG_USAGE } from './exit-codes.ts'
import { type Output, type OutputOptions, table } from './output.ts'
import { addCommand, parseCount, runCommand } from './session.ts'

type ListOptions = OutputOptions & { state?: (typeof EMAIL_STATES)[number]; limit: number }

const MAX_LISTED = 10_000
/** Servers repeat long addresses before the reason. This is the last column. */
const SHOWN_REASON_LENGTH = 500

type ListedMail = {
  id: string
  state: string
  attempts: number
  reason: string
  createdAt: Date
  sentAt: Date | null
  recipientEmail: string
  organization: string
} & ({ inviteId: string; assessment: string } | { memberId: string; kind: string } | { assessment: string })

/** `mail list | show | retry`. */
export function addMailCommands(program: Command): void {
  const mail = program.command('mail').description('manage mails to candidates and members')

  addCommand(mail, 'list', 'list the newest mails')
    .addOption(new Option('--state <state>').choices(EMAIL_STATES))
    .addOption(new Option('--limit <count>').argParser(parseCount(MAX_LISTED)).default(50))
    .action((options: ListOptions) =>
      runCommand(options, async ({ operator }) => {
        const mails = await listMails(operator, omitUndefined({ limit: options.limit, state: options.state }))
        return { text: toTable(mails), json: mails }
      }),
    )

  addCommand(mail, 'show', 'show a mail with its link')
    .argument('<id>', 'see: mail list')
    .action((id: string, options: OutputOptions) =>
      runCommand(options, async ({ operator, mailSettings }) => {
        const email = await findEmail(operator, id)
        if (email) return formatInvitation(mailSettings, email)
        const toMember = await findMemberEmail(operator, id)
        if (toMember) return formatMail(renderMemberEmail(mailSettings, toMember), fromMember(toMember))
        const toVisitor = await findRegistration(operator, id)
        if (!toVisitor) throw new Error(`There is no mail ${id}.`)
        return formatMail(renderRegistrationEmail(mailSettings, toVisitor), fromVisitor(toVisitor))
      }),
    )

  const retry = addCommand(mail, 'retry', 'queue failed or captured mails again, or retry waiting ones now')
    .argument('[id]', 'id of a failed or waiting mail')
    .option('--all', 'retry all failed mails')
    .option('--captured', 'send all captured mails, except those of test invites')
    .option('--waiting', 'retry all waiting mails')
    .option('--reason <words>', 'only mails whose reason contains these words')
    .addOption(
      new Option('--since <time>', 'of these, those that became so since then, e.g. 2026-03-02T09:00Z').argParser(parseTime),
    )
  retry.action((id: string | undefined, options: RetryOptions) => {
    const chosen = [id, options.all, options.captured, options.waiting].filter((choice) => choice !== undefined)
    if (chosen.length !== 1)
      retry.error('error: name one mail, or give one of --all, --captured and --waiting', { exitCode: EXIT_WRONG_USAGE })
    const narrows = options.reason !== undefined || options.since !== undefined
    if (narrows && !options.all && !options.captured)
      retry.error('error: --reason and --since go with --all or --captured', { exitCode: EXIT_WRONG_USAGE })
    return runCommand(options, async ({ operator }) => {
      const count = await retryMails(operator, id, options)
      if (id !== undefined && count === 0) throw new Error(`There is no mail ${id} that has failed or waits for its next try.`)
      return { text: `${count} ${count === 1 ? 'mail' : 'mails'} queued again.\n`, json: { queued: count } }
    })
  })
}

type RetryOptions = OutputOptions & { all?: true; captured?: true; waiting?: true; reason?: string; since?: Date }

async function retryMails(operator: ServiceContext, id: string | undefined, options: RetryOptions): Promise<number> {
  if (id !== undefined) {
    const failed = (await retryFailedEmail(operator, id)) + (await retryMemberEmails(operator, { id }))
    return failed > 0 ? failed : operator.deps.queue.bringMailForward(id)
  }
  if (options.waiting) {
    await bringMailProbeForward(operator)
    return operator.deps.queue.bringMailForward()
  }
  const state = options.captured ? ('captured' as const) : ('failed' as const)
  const filter = { state, ...omitUndefined({ reason: options.reason, since: options.since }) }
  return (await retryEmails(operator, filter)) + (await retryMemberEmails(operator, filter))
}

function parseTime(text: string): Date {
  const time = new Date(text)
  if (Number.isNaN(time.getTime())) throw new InvalidArgumentError('It is no time.')
  return time
}

function formatInvitation(settings: MailSettings, email: InviteEmail): Output {
  const link = settings.links.invitationUrl({ inviteId: email.inviteId, linkVersion: email.linkVersion })
  const { text, json } = formatMail(renderInviteEmail(settings, email), fromInvite(email))
  return { text: `${text}Link: ${link}\n`, json: { ...json, link } }
}

function formatMail({ messageId, from, to, replyTo, subject, headers, text, html }: Message, mail: ListedMail) {
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
    `State: ${mail.state}, after ${mail.attempts} ${mail.attempts === 1 ? 'attempt' : 'attempts'}${mail.reason && ` (${mail.reason})`}`,
  ]
  return { text: `${lines.join('\n')}\n`, json: { ...mail, headers: fields, text, html } }
}

const addressOf = (mailbox: string | { name: string; address: string }): string => {
  if (typeof mailbox === 'string') return mailbox
  return mailbox.name ? `${mailbox.name} <${mailbox.address}>` : mailbox.address
}

const toTable = (mails: ListedMail[]): string =>
  table(
    ['ID', 'STATE', 'CREATED', 'ATTEMPTS', 'TO', 'ORGANIZATION', 'REASON'],
    mails.map(({ id, state, createdAt, attempts, reason, recipientEmail, organization }) => [
      id,
      state,
      createdAt.toISOString(),
      attempts,
      recipientEmail,
      organization,
      reason.replace(/\s+/g, ' ').slice(0, SHOWN_REASON_LENGTH),
    ]),
  )

/** The newest mails of all kinds, ordered by their time-ordered ids. */
async function listMails(
  operator: ServiceContext,
  window: { state?: (typeof EMAIL_STATES)[number]; limit: number },
): Promise<ListedMail[]> {
  const toCandidates = (await listEmails(operator, window)).map(fromInvite)
  const toMembers = (await listMemberEmails(operator, window)).map(fromMember)
  const toVisitors = (await listRegistrationEmails(operator, window)).map(fromVisitor)
  return [...toCandidates, ...toMembers, ...toVisitors].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, window.limit)
}

const fromInvite = ({ id, state, attempts, reason, createdAt, sentAt, inviteId, invite }: InviteEmail): ListedMail => ({
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

function fromMember(email: MemberEmail): ListedMail {
  const { id, state, attempts, reason, createdAt, sentAt, memberId, kind, member } = email
  const recipientEmail = recipientOf(email)
  return {
    id,
    state,
    attempts,
    reason,
    createdAt,
    sentAt,
    memberId,
    kind,
    recipientEmail,
    organization: member.organization.name,
  }
}

function fromVisitor({ id, state, attempts, reason, createdAt, sentAt, email, openLink }: RegistrationEmail): ListedMail {
  const { name: assessment, organization } = openLink.assessment
  return { id, state, attempts, reason, createdAt, sentAt, assessment, recipientEmail: email, organization: organization.name }
}

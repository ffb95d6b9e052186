import { may } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import { mayMove } from '../../../domain/invites/allowed-moves.ts'
import { type ListedEmail, shownEmailState } from '../../../domain/invites/emails.ts'
import type { InviteDetail } from '../../../domain/invites/invites.ts'
import { isAutomatic } from '../../../domain/mails/candidate-mails.ts'
import { mayReadSubmission } from '../../../domain/submissions/visibility.ts'
import { type Html, html, type Value } from '../../../html/html.ts'
import { formatBounce } from '../kit/bounce-labels.ts'
import { labelInviteStatus, time } from '../kit/formatting.ts'
import { type Form, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { linkButton, moreMenu } from '../kit/parts.ts'
import { popupButton } from '../kit/popup.ts'
import { badge } from '../kit/status.ts'
import { table } from '../kit/table.ts'
import { formatStep, labelMail, REMINDER_LABELS, SKIPPED_LABELS } from '../reminders/reminder-labels.ts'
import { actionMenu, inviteForms } from './invite-actions.ts'
import { graderAndTags, inviteDetails, otherInvites } from './invite-details.ts'
import type { InviteFacts as Facts } from './invite-facts.ts'
import { nextStep, resultPanel } from './invite-status.ts'
import { inviteTimeline } from './timeline.ts'

const NOTICES = new Map([
  ['invited', 'The invite is created.'],
  ['resend', 'The invitation is being sent again.'],
  ['extend', 'The expiry date is changed.'],
  [
    'correct',
    'The invite is corrected. Emails already sent stay as they are: send the invitation again if the candidate should see the change.',
  ],
  ['replaced', 'The right address is invited now, and the earlier invite is revoked.'],
  ['revoke', 'The invite is revoked: its link no longer works.'],
  ['reactivate', 'The invite is pending again, and a new link is on its way.'],
  ['grader', 'The grader is changed.'],
  ['tags', 'The tags are changed.'],
  ['reminders-off', 'Reminders are off for this invite.'],
  ['reminders-on', 'Reminders are on again for this invite.'],
  ['extra-time', 'The extra time is changed. A page that the candidate has open shows it within a minute.'],
  ['waive', 'The requirement is waived: the candidate can start and continue without it.'],
])

export function invitePage(form: Form, facts: Facts): Page {
  const { ctx, invite, timeline, done = '' } = facts
  const { recipientName, recipientEmail } = invite
  const forms = inviteForms(form, facts)
  return {
    title: `Invite of ${recipientEmail}`,
    heading: recipientName || recipientEmail,
    state: badge(facts.isUndelivered ? 'not delivered' : labelInviteStatus(invite)),
    subtitle: html`${candidateOf(ctx, invite)} · ${may(ctx, 'read') ? assessmentLink(ctx, invite) : invite.assessmentName}`,
    trail: [['Invites', pathOf(ctx, 'invites')]],
    actions: actionsOf(facts),
    notice: NOTICES.get(done),
    body: html`${mistakes(form)}${forms.open}<div class="grid items-start gap-6 lg:grid-cols-3">
<div class="space-y-6 lg:col-span-2">${resultPanel(facts)}${nextStep(facts)}${panel('timeline', 'Timeline', inviteTimeline('timeline-heading', timeline, invite))}${mails(facts)}${reminders(facts)}</div>
<div class="space-y-6">${inviteDetails(facts)}${graderAndTags(form, facts)}${otherInvites(facts)}</div>
</div>
<div>${forms.closed}</div>`,
  }
}

/** Email address, linked to the candidate's page for members who may see it. */
const candidateOf = (ctx: Context, { id, recipientEmail }: InviteDetail): Value =>
  may(ctx, 'read') ? html`<a href="${pathOf(ctx, `candidates/${id}`)}">${recipientEmail}</a>` : recipientEmail

const assessmentLink = (ctx: Context, { assessmentId, assessmentName }: InviteDetail): Html =>
  html`<a href="${pathOf(ctx, `assessments/${assessmentId}`)}">${assessmentName}</a>`

function actionsOf(facts: Facts): Html | false {
  const menu = actionMenu(facts)
  const main = mainActions(facts)
  return (menu.length > 0 || main !== false) && html`${menu.length > 0 && moreMenu(html`${menu}`)}${main}`
}

function mainActions({ ctx, invite, queued, operations }: Facts): Html | false {
  const path = pathOf(ctx, `invites/${invite.id}`)
  const grading = queued?.progress ? pathOf(ctx, `grading/${queued.id}`) : null
  if (mayReadSubmission(ctx, invite, null) && invite.assessmentSession !== null)
    return html`${linkButton(`${path}/submission`, 'Open submission', 'file-text', grading ? 'other' : 'main')}${grading && linkButton(grading, 'Grade', 'pencil-line', 'main')}`
  if (operations === null) return false
  if (mayMove('resend', invite.status))
    return popupButton({ id: 'resend', label: 'Send invitation again', icon: 'send' }, 'btn btn-primary')
  return (
    mayMove('reactivate', invite.status) &&
    popupButton({ id: 'reactivate', label: 'Reactivate', icon: 'rotate-ccw' }, 'btn btn-primary')
  )
}

/** Planned and skipped reminders; nothing if reminders are off. */
const reminders = ({ ctx, invite, reminders: planned, operations }: Facts): Html | false => {
  const isOpen = planned.some(({ kind }) => kind !== null)
  if (planned.length === 0 || (!isOpen && !invite.remindersOff)) return false
  const [name, label] = invite.remindersOff ? ['reminders-on', 'Turn on reminders'] : ['reminders-off', 'Turn off reminders']
  return panel(
    'reminders',
    'Reminders',
    html`${table(
      'reminders-heading',
      ['Reminder', 'When', 'Status'],
      planned.map(({ step, kind, at, skipped }) => [
        formatStep(step),
        time(at),
        skipped ? html`not sent: ${SKIPPED_LABELS[skipped]}` : html`${badge('planned')} ${kind && REMINDER_LABELS[kind]}`,
      ]),
    )}${operations !== null && html`<form class="mt-4" method="post" action="${pathOf(ctx, `invites/${invite.id}/${name}`)}">${onceField()}<button class="btn">${label}</button></form>`}`,
  )
}

const mails = ({ ctx, emails }: Facts): Html =>
  panel('mails', 'Emails', emails.length === 0 ? html`<p class="hint">No emails yet.</p>` : mailTable(emails, ctx.deps.clock()))

const mailTable = (emails: ListedEmail[], now: Date): Html =>
  table(
    'mails-heading',
    ['Email', 'Status', 'Sent', 'Attempts', 'Reason'],
    emails.map(({ kind, createdAt, sentAt, attempts, reason, delayedUntil, bouncedAt, complainedAt, ...email }) => {
      const state = shownEmailState({ ...email, delayedUntil }, now)
      const waits = state === 'delayed' && delayedUntil
      return [
        html`${labelMail(kind)}<br><span class="quiet text-xs font-normal">${time(createdAt)}</span>`,
        badge(complainedAt ? 'reported as spam' : bouncedAt && state === 'sent' ? 'bounced' : state),
        sentAt && time(sentAt),
        attempts,
        waits
          ? html`${isAutomatic(kind) ? 'outside the sending hours, or another email was sent' : 'daily limit reached'}; sent after ${time(delayedUntil)}`
          : reason || formatBounce(email),
      ]
    }),
  )

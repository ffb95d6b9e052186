import { may } from '../../../domain/authorization/permissions.ts'
import type { OpenLink, OpenLinkSettings } from '../../../domain/open-links/open-links.ts'
import type { RegistrationEmail } from '../../../domain/open-links/registration-emails.ts'
import { DAY_MS } from '../../../domain/time/days.ts'
import { type Html, html, toText } from '../../../html/html.ts'
import { previewPath } from '../../../http/addresses/preview.ts'
import { readNumber } from '../../../http/forms/read-form.ts'
import { formatCount } from '../../../http/pages/candidate-view.ts'
import { confirmButton } from '../kit/confirm.ts'
import { timeAgo } from '../kit/formatting.ts'
import { area, checkbox, checkboxes, type Form, field, mistakes, readFields, readLines } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { copyBox, linkButton, person } from '../kit/parts.ts'
import { qrCode } from '../kit/qr-code.ts'
import { badge } from '../kit/status.ts'
import { table } from '../kit/table.ts'
import { type AssessmentHead, assessmentHead, inviteButton } from './assessment-head.ts'
import { assessmentTabs } from './assessment-tabs.ts'

export type OpenLinkFacts = AssessmentHead & {
  link: OpenLink
  /** Tags to choose from; null if the reader may not see them. */
  tags: { id: string; name: string }[] | null
  /** Captured mails of a test link, with the address that each links to. */
  captured: { mail: RegistrationEmail; url: string }[]
  notice?: string | undefined
}

export const OPEN_LINK_NOTICES = new Map([
  ['saved', 'Saved.'],
  ['on', 'The open link is on. Anybody who has it can start.'],
  ['off', 'The open link is off. Nobody can start by it.'],
  ['replaced', 'The open link has a new address. The old one no longer works.'],
])

const openLinkPath = ({ ctx, assessment }: AssessmentHead): string => pathOf(ctx, `assessments/${assessment.id}/open-link`)

export function openLinkPage(form: Form, facts: OpenLinkFacts): Page {
  const { ctx, assessment } = facts
  const isPublic = assessment.audience === 'public'
  return {
    ...assessmentHead(facts, inviteButton(ctx, assessment)),
    notice: facts.notice,
    tabs: assessmentTabs(ctx, assessment, 'open-link'),
    body: html`${mistakes(form)}${
      !isPublic &&
      html`<div class="alert alert-soft alert-warning" role="status"><p>Only invited people can take this assessment, so its open link leads nowhere. <a href="${pathOf(ctx, `assessments/${assessment.id}/edit`)}">Make the assessment public</a> to use the link.</p></div>`
    }<div class="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_22rem]">
<div class="space-y-6">${linkPanel(facts)}${facts.captured.length > 0 && capturedPanel(facts)}</div>
${panel('settings', 'Settings', may(ctx, 'write_assessments') ? settingsForm(form, facts) : readOnly(facts.link))}
</div>`,
  }
}

function linkPanel(facts: OpenLinkFacts): Html {
  const { ctx, link } = facts
  const mayChange = may(ctx, 'write_assessments')
  const path = openLinkPath(facts)
  const newState = link.isOn ? 'off' : 'on'
  const turn =
    mayChange &&
    html`<form method="post" action="${`${path}/${newState}`}"><button class="${link.isOn ? 'btn' : 'btn btn-primary'}">Switch the link ${newState}</button></form>`
  return panel(
    'link',
    'Link',
    html`<p class="mb-4">${badge(link.isOn ? 'on' : 'off')} Anybody who has the link can register with an email address. They start from the email that we send them.${ctx.mode === 'test' && ' This is the test link: its emails are not sent, and its invites are test data.'}</p>
${link.url && shareLink(facts, link.url)}
<p class="mb-4">${came(facts)}</p>
<div class="flex flex-wrap gap-2">${turn}${
      mayChange &&
      link.url &&
      confirmButton({
        label: 'Replace the link',
        question: 'Replace the open link?',
        consequence:
          'The old link and the emails that it has sent stop working at once. People who have begun are not affected. This can’t be undone.',
        address: `${path}/replace`,
      })
    }</div>`,
  )
}

function came({ ctx, link, assessment }: OpenLinkFacts): Html | string {
  if (link.invitesCreated === 0) return 'Nobody has used this link yet.'
  const number = formatCount(link.invitesCreated, 'candidate')
  const invites = pathOf(ctx, `assessments/${assessment.id}/invites?source=open`)
  return html`${may(ctx, 'read') ? html`<a href="${invites}">${number}</a>` : number} started by this link.`
}

const shareLink = ({ ctx, assessment }: OpenLinkFacts, url: string): Html => html`${copyBox('open-link-address', url)}
<div class="mb-4 flex flex-wrap items-start gap-4">${qrCode(url, `QR code of the open link of ${assessment.name}`)}
<div class="min-w-0 grow basis-64"><p class="mb-1.5 text-sm font-medium">Button for a website</p>${copyBox('open-link-html', toText(html`<a href="${url}">${assessment.name}</a>`))}
${linkButton(previewPath(ctx, assessment.id, 'open'), 'Preview the page', 'eye', 'small')}</div></div>`

const capturedPanel = ({ ctx, captured }: OpenLinkFacts): Html =>
  panel(
    'captured',
    'Emails of the test link',
    table(
      'captured-heading',
      ['To', 'Written', 'Link'],
      captured.map(({ mail, url }) => [
        person({ name: mail.name, email: mail.email }),
        timeAgo(ctx, mail.createdAt),
        html`<a href="${url}">Open its link</a>`,
      ]),
    ),
  )

/** Day of a time in UTC, in the format of date fields. */
const toDay = (time: Date | null): string => time?.toISOString().slice(0, 10) ?? ''
/** A link that closes at midnight is open on the day before. */
const toLastDay = (time: Date | null): string => toDay(time && new Date(time.getTime() - 1))

function settingsForm(form: Form, facts: OpenLinkFacts): Html {
  const { link, tags } = facts
  return html`<form method="post" action="${openLinkPath(facts)}" data-guarded>
${field(form, { name: 'opensAt', label: 'First day (UTC)', type: 'date', value: toDay(link.opensAt), optional: true })}
${field(form, { name: 'closesAt', label: 'Last day (UTC)', type: 'date', value: toLastDay(link.closesAt), optional: true })}
${field(form, { name: 'maxInvites', label: 'People in all', type: 'number', value: link.maxInvites === null ? '' : String(link.maxInvites), hint: 'Leave empty for any number.', optional: true })}
${field(form, { name: 'dailyInvites', label: 'People within 24 hours', type: 'number', value: String(link.dailyInvites) })}
${field(form, { name: 'inviteDays', label: 'Days until an invite expires', type: 'number', value: String(link.inviteDays) })}
${area(form, { name: 'emailDomains', label: 'Allowed email domains', hint: 'One per line, like example.com. Leave empty for all.', value: link.emailDomains.join('\n') })}
${tags && html`<input type="hidden" name="hasTags" value="yes">`}${tags && tags.length > 0 && checkboxes(form, { name: 'tagIds', label: 'Tags of the invites', options: tags.map(({ id, name }) => [id, name] as const), values: link.tagIds, isLong: true })}
${checkbox(form, { name: 'notifiesMembers', label: 'Tell members each morning how many people started', checked: link.notifiesMembers })}
<p class="hint mb-4">Members switch this email on under “My account”.</p>
<button class="btn btn-primary">Save</button>
</form>`
}

const readOnly = ({ opensAt, closesAt, maxInvites, inviteDays }: OpenLink): Html =>
  html`<ul class="list-disc pl-5">${[
    opensAt && `Opens on ${toDay(opensAt)} (UTC)`,
    closesAt && `Open until ${toLastDay(closesAt)} (UTC)`,
    maxInvites !== null && `For ${formatCount(maxInvites, 'candidate')} at most`,
    `Invites expire after ${formatCount(inviteDays, 'day')}`,
  ].map((text) => text && html`<li>${text}</li>`)}</ul>`

/** The settings as typed. A day that was not changed keeps the exact time that an API key may have set. */
export function readOpenLink(values: URLSearchParams, link: OpenLink): Partial<OpenLinkSettings> {
  const { opensAt, closesAt, maxInvites } = readFields(values, 'opensAt', 'closesAt', 'maxInvites')
  return {
    opensAt: opensAt === toDay(link.opensAt) ? link.opensAt : readDay(opensAt, 0),
    closesAt: closesAt === toLastDay(link.closesAt) ? link.closesAt : readDay(closesAt, DAY_MS),
    maxInvites: maxInvites.trim() === '' ? null : readNumber(values, 'maxInvites'),
    dailyInvites: readNumber(values, 'dailyInvites'),
    inviteDays: readNumber(values, 'inviteDays'),
    emailDomains: readLines(values, 'emailDomains'),
    ...(values.has('hasTags') && { tagIds: values.getAll('tagIds') }),
    notifiesMembers: values.has('notifiesMembers'),
  }
}

function readDay(text: string, offset: number): Date | null {
  const time = new Date(`${text}T00:00:00Z`).getTime()
  return Number.isNaN(time) ? null : new Date(time + offset)
}

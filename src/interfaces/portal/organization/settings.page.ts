import { may } from '../../../domain/access/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import type { OrganizationSettings } from '../../../domain/members/organization-settings.ts'
import { type Html, html } from '../../../html/html.ts'
import { ARCHIVES } from '../archives/archives.page.ts'
import { ERASE_ORGANIZATION } from '../erasure/organization.page.ts'
import { area, type Form, field, mistakes } from '../kit/forms.ts'
import { type Page, pathOf, settingsPanel } from '../kit/layout.ts'
import { copyBox } from '../kit/parts.ts'
import { settingsSection } from '../kit/settings-section.ts'
import { BRAND_SETTINGS } from './brand.page.ts'
import { PAGE_WORDS } from './page-words.page.ts'
import { SUPPRESSIONS } from './suppressions.page.ts'

type Facts = { ctx: Context; settings: OrganizationSettings & { returnSecret: string; updatedAt: Date }; done: string }

export function organizationSettingsPage(form: Form, { ctx, settings, done }: Facts): Page {
  const to = { address: pathOf(ctx, 'settings/organization'), row: settings }
  const section = (id: string, heading: string, about: string, fields: Html, more?: Html) =>
    settingsSection(form, to, id, { heading, about, fields, isFirst: id === 'organization', ...(more && { more }) })
  return {
    title: 'Settings',
    subtitle: 'For everybody in the organization.',
    notice: done === 'saved' ? 'The settings are saved.' : undefined,
    body: html`${mistakes(form)}${section(
      'organization',
      'Organization',
      'The name that members and candidates see.',
      field(form, { name: 'name', label: 'Name', value: settings.name, autocomplete: 'organization' }),
    )}${section('invitations', 'Invitations', 'Who invitations are from, and who gets the replies.', mailFields(form, settings), moreOnMails(ctx))}${section(
      'return',
      'Return link',
      'Invites made by API can lead to a page of yours at the end.',
      area(form, {
        name: 'returnHosts',
        label: 'Allowed return hosts',
        hint: 'One per line, such as careers.example.com. Invites created over the API can send candidates back to an https address there when they finish.',
        value: settings.returnHosts,
      }),
      html`<h3>Secret</h3>
<p class="hint mb-3">The link that brings candidates back to you is signed with this secret. <a href="/docs/guides/coming-back">How your system verifies it</a></p>
${copyBox('secret', settings.returnSecret)}`,
    )}${settingsPanel(
      'brand',
      'Colours and logo',
      'For candidates’ pages and emails.',
      html`<a class="btn" href="${pathOf(ctx, BRAND_SETTINGS)}">Change colours and logo</a>`,
    )}${settingsPanel(
      'links',
      'Links and consent',
      'Imprint, privacy and contact at the foot of candidates’ pages, and your consent text.',
      html`<a class="btn" href="${pathOf(ctx, PAGE_WORDS)}">Change links and consent</a>`,
    )}${settingsPanel(
      'languages',
      'Languages and times',
      'Candidates’ languages and time zone.',
      html`<a class="btn" href="${pathOf(ctx, 'settings/languages')}">Change languages and times</a>`,
    )}${may(ctx, 'erase_candidates') && erasures(ctx)}${may(ctx, 'erase_organization') && ending(ctx)}`,
  }
}

const erasures = (ctx: Context): Html =>
  settingsPanel(
    'erasures',
    'Erasures and archives',
    'To erase a candidate, or to make an archive of all their data, open their page. Receipts say what was erased, without names.',
    html`<div class="flex flex-wrap gap-2"><a class="btn" href="${pathOf(ctx, 'settings/erasures')}">Receipts</a><a class="btn" href="${pathOf(ctx, ARCHIVES)}">Archives</a><a class="btn" href="${pathOf(ctx, 'settings/retention')}">Retention</a></div>`,
  )

const ending = (ctx: Context): Html =>
  settingsPanel(
    'ending',
    'Erase the organization',
    'All of it, after two weeks in which any owner can keep it.',
    html`<a class="btn text-error" href="${pathOf(ctx, ERASE_ORGANIZATION)}">Erase the organization</a>`,
  )

const moreOnMails = (ctx: Context): Html =>
  html`<p class="mt-4"><a href="${pathOf(ctx, 'settings/words')}">Write emails to candidates in your own words</a></p>
<p class="mt-2"><a href="${pathOf(ctx, 'settings/reminders')}">Reminders and notices</a></p>
<p class="mt-2"><a href="${pathOf(ctx, SUPPRESSIONS)}">Addresses we do not write to</a></p>`

const mailFields = (form: Form, settings: OrganizationSettings): Html => html`${field(form, {
  name: 'senderName',
  label: 'Sender name',
  hint: 'Shown as the sender of invitations. Leave empty to use the name of this service.',
  value: settings.senderName,
  optional: true,
})}
${field(form, {
  name: 'replyTo',
  label: 'Reply-to address',
  hint: 'Where replies to invitations go. Leave empty to send them to whoever invited the candidate.',
  type: 'email',
  value: settings.replyTo,
  optional: true,
})}
${area(form, {
  name: 'invitationText',
  label: 'Text below every invitation',
  hint: 'For example, whom to ask for help and how you handle candidates’ data.',
  value: settings.invitationText,
})}`

import type { Context } from '../../../domain/context.ts'
import type { OrganizationSettings } from '../../../domain/organization/organization-settings.ts'
import { type Html, html } from '../../../html/html.ts'
import { area, type Form, field, mistakes } from '../kit/forms.ts'
import { type Page, pathOf } from '../kit/layout.ts'
import { copyBox } from '../kit/parts.ts'
import { settingsSection } from '../kit/settings-section.ts'

type Facts = { ctx: Context; settings: OrganizationSettings & { returnSecret: string; updatedAt: Date }; done: string }

export function organizationSettingsPage(form: Form, { ctx, settings, done }: Facts): Page {
  const target = { address: pathOf(ctx, 'settings/organization'), row: settings }
  const section = (id: string, heading: string, about: string, fields: Html, more?: Html) =>
    settingsSection(form, target, id, { heading, about, fields, isFirst: id === 'organization', ...(more && { more }) })
  return {
    title: 'Organization',
    subtitle: 'Its name, who invitations are from, and where candidates go at the end.',
    trail: [['Settings', pathOf(ctx, 'settings')]],
    notice: done === 'saved' ? 'The settings are saved.' : undefined,
    body: html`${mistakes(form)}${section(
      'organization',
      'Organization',
      'The name that members and candidates see.',
      field(form, { name: 'name', label: 'Name', value: settings.name, autocomplete: 'organization' }),
    )}${section('invitations', 'Invitations', 'Who invitations are from, and who gets the replies.', mailFields(form, settings))}${section(
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
    )}`,
  }
}

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
  hint: 'Where replies to invitations go. Leave empty to send them to the person who invited the candidate.',
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

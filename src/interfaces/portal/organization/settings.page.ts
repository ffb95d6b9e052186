import type { Context } from '../../../domain/context.ts'
import type { OrganizationSettings } from '../../../domain/members/organization-settings.ts'
import { html } from '../../../html/html.ts'
import { area, type Form, field, mistakes, seenField } from '../kit/forms.ts'
import { type Page, pathOf } from '../kit/layout.ts'

type Facts = { ctx: Context; settings: OrganizationSettings & { returnSecret: string; updatedAt: Date }; done: string }

export const organizationSettingsPage = (form: Form, { ctx, settings, done }: Facts): Page => ({
  title: 'Organization',
  notice: done === 'saved' ? 'The settings are saved.' : undefined,
  body: html`${mistakes(form)}<form class="panel" method="post" action="${pathOf(ctx, 'settings/organization')}">
${seenField(form, settings)}
${field(form, { name: 'name', label: 'Name', value: settings.name, autocomplete: 'organization' })}
${field(form, {
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
})}
${area(form, {
  name: 'returnHosts',
  label: 'Allowed return hosts',
  hint: 'One per line, such as careers.example.com. Invites created over the API can send candidates back to an https address there when they finish.',
  value: settings.returnHosts,
})}
<button class="btn btn-primary">Save</button>
</form>
<section class="panel" aria-labelledby="return-heading">
<h2 id="return-heading">Return link secret</h2>
<p>The link that brings candidates back to you is signed with this secret. <a href="/docs/guides/coming-back">How your system verifies it</a></p>
<code class="secret">${settings.returnSecret}</code>
</section>`,
})

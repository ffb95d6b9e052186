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
  label: 'Sender’s name',
  hint: 'The name that invitations come from. Empty: that of this service.',
  value: settings.senderName,
  optional: true,
})}
${field(form, {
  name: 'replyTo',
  label: 'Address for replies',
  hint: 'Where replies to invitations go. Empty: to whoever has invited the candidate.',
  type: 'email',
  value: settings.replyTo,
  optional: true,
})}
${area(form, {
  name: 'invitationText',
  label: 'Text under every invitation',
  hint: 'For instance whom to ask, and how you handle what candidates send in.',
  value: settings.invitationText,
})}
${area(form, {
  name: 'returnHosts',
  label: 'Hosts that candidates may go on to',
  hint: 'One a line, as careers.example.com. Invites made by API can lead there at the end, by https.',
  value: settings.returnHosts,
})}
<button class="btn btn-primary">Save</button>
</form>
<section class="panel" aria-labelledby="return-heading">
<h2 id="return-heading">Where candidates come back</h2>
<p>The address that they come back to is signed with this secret: your system verifies it, as docs/guides/coming-back.md says.</p>
<code class="secret">${settings.returnSecret}</code>
</section>`,
})

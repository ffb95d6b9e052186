import type { Membership } from '../../../domain/sign-in/sessions.ts'
import { html } from '../../../html/html.ts'
import { homeOf, type Page } from '../kit/layout.ts'

export const organizationsPage = (memberships: Membership[]): Page => ({
  title: 'Choose an organization',
  body: html`<ul class="space-y-2">
${memberships.map((membership) => html`<li><a class="btn w-full justify-start" href="${homeOf(membership.organization)}">${membership.organization.name}</a></li>\n`)}
</ul>`,
})

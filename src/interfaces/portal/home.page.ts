import { may } from '../../domain/access/permissions.ts'
import type { Context } from '../../domain/context.ts'
import { html } from '../../http/html.ts'
import { type Page, pathOf } from './layout.ts'

export function homePage(ctx: Context): Page {
  const roles = ctx.actor.kind === 'member' ? ctx.actor.roles : []
  return {
    title: ctx.organization.name,
    body: html`<section class="panel">
<p>You are a member of this organization${roles.length > 0 && `, as ${roles.join(' and ')}`}.</p>
${may(ctx, 'manage_keys') && html`<p>Other systems reach it with an API key: generate one under <a href="${pathOf(ctx, 'settings/integrations')}">Settings, Integrations</a>.</p>`}
<p>Your name, your password and where you are signed in are under <a href="${pathOf(ctx, 'account')}">My account</a>.</p>
</section>`,
  }
}

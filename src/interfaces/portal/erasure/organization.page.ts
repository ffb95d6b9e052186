import type { Context } from '../../../domain/context.ts'
import { SUSPENSION_DAYS } from '../../../domain/erasure/suspension.ts'
import { html } from '../../../html/html.ts'
import { type Form, field, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'

export const ERASE_ORGANIZATION = 'settings/erase-organization'

export const eraseOrganizationPage = (form: Form, ctx: Context): Page => ({
  title: 'Erase the organization',
  subtitle: ctx.organization.name,
  trail: [['Settings', pathOf(ctx, 'settings')]],
  body: html`${mistakes(form)}${panel(
    'follows',
    'Consequences',
    html`<ol class="list-decimal pl-5">
<li>Everything stops at once: API keys, webhooks, emails, candidates’ links and these pages. All owners get an email.</li>
<li>For ${SUSPENSION_DAYS} days any owner can keep the organization, or export its data.</li>
<li>Then everything is erased for good: candidates and their submissions, assessments, settings, members, and accounts that are in no other organization.</li>
</ol>
<p class="hint mt-3">Backups keep it until they are deleted.</p>`,
  )}<section class="panel" aria-labelledby="erase-heading">
<h2 class="mb-4" id="erase-heading">Erase</h2>
<form method="post" action="${pathOf(ctx, ERASE_ORGANIZATION)}">${onceField()}
${field(form, { name: 'name', label: `Type the name: ${ctx.organization.name}` })}
<button class="btn btn-error">Erase the organization</button>
</form>
</section>`,
})

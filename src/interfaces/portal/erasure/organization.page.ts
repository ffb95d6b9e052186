import type { Context } from '../../../domain/context.ts'
import { HOLD_DAYS } from '../../../domain/erasure/hold.ts'
import { html } from '../../../html/html.ts'
import { type Form, field, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'

export const ERASE_ORGANIZATION = 'settings/erase-organization'

/** What follows, and the form that asks for it. */
export const eraseOrganizationPage = (form: Form, ctx: Context): Page => ({
  title: 'Erase the organization',
  subtitle: ctx.organization.name,
  trail: [['Settings', pathOf(ctx, 'settings/organization')]],
  body: html`${mistakes(form)}${panel(
    'follows',
    'What follows',
    html`<ol class="list-decimal pl-5">
<li>At once everything stops: API keys, webhooks, emails, candidates’ links, and these pages. All owners are told by mail.</li>
<li>For ${HOLD_DAYS} days each owner can keep the organization by one press, and export what is to stay with you.</li>
<li>Then all of it is erased for good: candidates with what they sent in, assessments, settings, members, and the accounts of those who are in no other organization.</li>
</ol>
<p class="hint mt-3">Backups of the service hold it until their time is over.</p>`,
  )}<section class="panel" aria-labelledby="erase-heading">
<h2 class="mb-4" id="erase-heading">Erase</h2>
<form method="post" action="${pathOf(ctx, ERASE_ORGANIZATION)}">${onceField()}
${field(form, { name: 'name', label: `Type the name: ${ctx.organization.name}` })}
<button class="btn btn-error">Erase the organization</button>
</form>
</section>`,
})

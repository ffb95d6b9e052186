import type { Context } from '../../../domain/context.ts'
import type { ClientView } from '../../../domain/sharing/sharing-settings.ts'
import { RESULT_PARTS } from '../../../domain/submissions/result-parts.ts'
import { html } from '../../../html/html.ts'
import { checkboxes, type Form, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { PART_LABELS } from './shares.page.ts'

export const SHARING_SETTINGS = 'settings/sharing'

export const sharingSettingsPage = (form: Form, ctx: Context, { isOn, done }: { isOn: boolean; done: string }): Page => ({
  title: 'Sharing',
  subtitle: 'Links to results, for people without an account.',
  trail: [['Settings', pathOf(ctx, 'settings')]],
  notice: done === 'saved' ? 'The settings are saved.' : undefined,
  body: html`${mistakes(form)}${panel(
    'sharing',
    isOn ? 'Links are on' : 'Links are off',
    html`<ul class="mb-4 list-disc space-y-1 pl-5">
<li>Admins and managers can create links to released results of one assessment.</li>
<li>A link ends after 7 days, or up to 90 if you choose so. It can be revoked at any time, and each opening is in the audit log.</li>
<li>It shows points. Names, answers, recordings, and transcripts only if they are chosen, and only of candidates who were told that results may be shared.</li>
</ul>
<form method="post" action="${pathOf(ctx, SHARING_SETTINGS)}"><input type="hidden" name="isOn" value="${isOn ? 'no' : 'yes'}">
${isOn ? html`<p class="hint mb-3">Switching off closes all links at once.</p><button class="btn">Switch off</button>` : html`<button class="btn btn-primary">Switch on</button>`}
</form>`,
  )}`,
})

export const clientViewPage = (form: Form, ctx: Context, view: ClientView, done: string): Page => ({
  title: `What clients see: ${view.name}`,
  heading: 'What clients see',
  subtitle: view.name,
  trail: [
    ['Assessments', pathOf(ctx, 'assessments')],
    [view.name, pathOf(ctx, `assessments/${view.id}/results`)],
  ],
  notice: done === 'saved' ? 'The settings are saved.' : undefined,
  body: html`${mistakes(form)}<form class="panel max-w-2xl" method="post" action="${pathOf(ctx, `assessments/${view.id}/client-view`)}">
<input type="hidden" name="isSent" value="yes">
<p class="mb-4">Members with the role client see points of released results of the assessments that are shared with them.</p>
${checkboxes(form, { name: 'sees', label: 'They also see', options: RESULT_PARTS.map((part) => [part, PART_LABELS[part]] as const), values: view.sees, hint: 'Transcripts also need the right to view transcripts, member by member. Without names, clients don’t see the invites of this assessment.' })}
<button class="btn btn-primary">Save</button>
</form>`,
})

import type { Context } from '../../../domain/context.ts'
import type { MemberTraces } from '../../../domain/erasure/request-member-erasure.ts'
import type { Member } from '../../../domain/members/members.ts'
import { html } from '../../../html/html.ts'
import { checkbox, checkboxes, type Form, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { table } from '../kit/table.ts'
import { retainedDataList } from './erasure.page.ts'

type EraseMemberFacts = { ctx: Context; member: Member; traces: MemberTraces }

export const eraseMemberPage = (form: Form, { ctx, member: { id, email }, traces }: EraseMemberFacts): Page => ({
  title: `Erase ${email}`,
  heading: 'Erase the member',
  subtitle: email,
  trail: [
    ['Members', pathOf(ctx, 'members')],
    [email, pathOf(ctx, `members/${id}`)],
  ],
  body: html`${mistakes(form)}${panel(
    'found',
    'Data to erase',
    html`${table(
      'found-heading',
      ['Data', 'Count'],
      [
        ['Name, address, picture, department, and settings of the member', 1],
        ['Emails to them', traces.mails],
        ['Filters that only they use', traces.filters],
        ['Addresses and browsers in their entries of the audit log', traces.actions],
      ],
    )}
<p class="hint mt-3">They are signed out at once. Their sign-in methods, sessions, browsers, and second step are erased too, unless they are a member of another organization. Backups keep the data until they are deleted.</p>`,
  )}${panel(
    'stays',
    'Data that is kept',
    html`${retainedDataList('member')}
<p class="hint mt-3">They have given ${traces.grades === 1 ? 'one grade' : `${traces.grades.toLocaleString('en')} grades`}.</p>`,
  )}<section class="panel" aria-labelledby="erase-heading">
<h2 class="mb-4" id="erase-heading">Erase</h2>
<form method="post" action="${pathOf(ctx, `members/${id}/erase`)}">${onceField()}
${traces.keys.length > 0 && html`<p class="hint">API keys that they generated and that still work: ${traces.keys.join(', ')}.</p>${checkbox(form, { name: 'revokesKeys', label: 'Revoke these keys as well' })}`}
${checkboxes(form, { name: 'sure', label: 'This can’t be undone', options: [['yes', 'Erase the member for good']] })}
<button class="btn btn-error mt-3">Erase the member</button>
</form>
</section>`,
})

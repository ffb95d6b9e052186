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
    'What is erased',
    html`${table(
      'found-heading',
      ['What', 'How many'],
      [
        ['Name, address, picture, department and settings of the member', 1],
        ['Emails to them', traces.mails],
        ['Filters that they alone have', traces.filters],
        ['Entries in the audit log that say from where and with which browser they did something', traces.actions],
      ],
    )}
<p class="hint mt-3">They are signed out at once. What they sign in with goes too, with sessions, browsers and second step, unless they are a member of another organization. Backups keep it until they are deleted.</p>`,
  )}${panel(
    'stays',
    'What stays',
    html`${retainedDataList('member')}
<p class="hint mt-3">They have given ${traces.grades === 1 ? 'one grade' : `${traces.grades.toLocaleString('en')} grades`}.</p>`,
  )}<section class="panel" aria-labelledby="erase-heading">
<h2 class="mb-4" id="erase-heading">Erase</h2>
<form method="post" action="${pathOf(ctx, `members/${id}/erase`)}">${onceField()}
${traces.keys.length > 0 && html`<p class="hint">API keys that they generated and that still work: ${traces.keys.join(', ')}.</p>${checkbox(form, { name: 'revokesKeys', label: 'Revoke these keys as well' })}`}
${checkboxes(form, { name: 'sure', label: 'It can’t be undone', options: [['yes', 'Erase the member for good']] })}
<button class="btn btn-error mt-3">Erase the member</button>
</form>
</section>`,
})

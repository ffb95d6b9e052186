import type { Context } from '../../../domain/context.ts'
import { formatSuppressionReason, type ListedSuppression } from '../../../domain/invites/suppressions.ts'
import { isFormattedHmac } from '../../../domain/secrets/address-hmacs.ts'
import { type Html, html } from '../../../html/html.ts'
import { time } from '../kit/formatting.ts'
import { area, checkbox, type Form, field, mistakes } from '../kit/forms.ts'
import { type Page, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { type FilteredList, filterLine, isNarrowed, noRows, sizedPager } from '../kit/paging.ts'
import { popup, popupButton } from '../kit/popup.ts'
import { table } from '../kit/table.ts'

const NOTICES = new Map([
  ['added', 'The address is blocked and gets no emails.'],
  ['lifted', 'The address is unblocked. Emails that were not sent before stay unsent: send the invitation again.'],
])

/** Addresses of erased people are stored as pseudonyms. */
const formatAddress = (address: string): string => (isFormattedHmac(address) ? 'Somebody who was erased' : address)

export const SUPPRESSIONS = 'settings/suppressions'
const ADDING = { id: 'add', label: 'Block an address', icon: 'plus' } as const
const isRefused = ({ issues }: Form): boolean => issues.length > 0

type ListFacts = { ctx: Context; found: FilteredList<ListedSuppression>; done: string }

export const suppressionsPage = (form: Form, { ctx, found, done }: ListFacts): Page => ({
  title: 'Blocked addresses',
  subtitle: 'These addresses get no emails from you. Mail servers trust you less if your emails bounce or are reported as spam.',
  trail: [['Settings', pathOf(ctx, 'settings')]],
  notice: NOTICES.get(done),
  actions: !isRefused(form) && popupButton(ADDING, 'btn btn-primary'),
  body: html`${mistakes(form)}${mistakes(found.form)}${isRefused(form) && adding(form, ctx)}<section class="panel" aria-labelledby="addresses-heading">
<h2 class="mb-4" id="addresses-heading">${found.list.total === 1 ? 'One address' : html`${found.list.total} addresses`}</h2>
${filterLine(pathOf(ctx, SUPPRESSIONS), found.form.values, field(found.form, { name: 'search', label: 'Whole email address', type: 'search', optional: true }))}
${found.list.items.length === 0 ? noRows(isNarrowed(found.form.values) ? 'This address is not blocked.' : 'No address is blocked. Addresses whose emails bounce or are reported as spam are added automatically.', pathOf(ctx, SUPPRESSIONS), found.form.values) : addressTable(ctx, found.list.items)}
${sizedPager(pathOf(ctx, SUPPRESSIONS), found.form.values, found.list)}
</section>
<div>${!isRefused(form) && adding(form, ctx)}</div>`,
})

const addressTable = (ctx: Context, items: ListedSuppression[]): Html =>
  table(
    'addresses-heading',
    ['Address', 'Reason', 'Since', 'Until'],
    items.map(({ id, address, reason, scope, since, until }) => [
      html`<a class="named" href="${pathOf(ctx, `${SUPPRESSIONS}/${id}`)}">${formatAddress(address)}</a>`,
      html`${scope === 'reminders' && 'reminders and notices only: '}${formatSuppressionReason(reason)}`,
      time(since),
      until === null ? 'unblocked' : time(until),
    ]),
  )

const adding = (form: Form, ctx: Context): Html =>
  popup(
    ADDING.id,
    'Block an address',
    html`<form method="post" action="${pathOf(ctx, SUPPRESSIONS)}">${onceField()}
${field(form, { name: 'address', label: 'Email address', type: 'email', hint: 'No email is sent to it, for any assessment.' })}
<button class="btn btn-primary">Block address</button>
</form>`,
    isRefused(form),
  )

export const suppressionPage = (form: Form, { ctx, suppression }: { ctx: Context; suppression: ListedSuppression }): Page => ({
  title: formatAddress(suppression.address),
  subtitle: html`Blocked since ${time(suppression.since)}: ${formatSuppressionReason(suppression.reason)}.`,
  trail: [['Blocked addresses', pathOf(ctx, SUPPRESSIONS)]],
  body: html`${mistakes(form)}<section class="panel" aria-labelledby="lift-heading">
<h2 class="mb-4" id="lift-heading">Unblock address</h2>
<form method="post" action="${pathOf(ctx, `${SUPPRESSIONS}/${suppression.id}/lift`)}">
${area(form, { name: 'why', label: 'Reason', hint: 'Kept in the audit log. Don’t write the address here.' })}
${(suppression.reason === 'complaint' || suppression.reason === 'unsubscribed') && checkbox(form, { name: 'sure', label: `They have said that they want our emails again, although they ${suppression.reason === 'complaint' ? 'reported one as spam' : 'unsubscribed'}`, checked: false })}
<button class="btn btn-primary">Unblock address</button>
</form>
</section>`,
})

import { may } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import type { SavedFilter } from '../../../domain/invites/saved-filters.ts'
import { ERASED_MEMBER } from '../../../domain/loaders/former-members.ts'
import { type Html, html } from '../../../html/html.ts'
import { icon } from '../../../http/pages/icon.ts'
import { confirmButton } from '../kit/confirm.ts'
import { checkbox, type Form, field } from '../kit/forms.ts'
import { pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { FILTERS } from './read-filter.ts'

/** Filters and order of the list's address, in canonical form. */
export const savedQuery = (values: URLSearchParams): string =>
  new URLSearchParams(
    [...FILTERS, 'sort'].flatMap((name): [string, string][] => (values.get(name) ? [[name, values.get(name)!]] : [])),
  ).toString()

type Facts = { ctx: Context; saved: SavedFilter[]; values: URLSearchParams; form: Form }

/** Saved filters, and the form that saves the current one. @param facts.form its form. */
export function savedFilters({ ctx, saved, values, form }: Facts): Html | false {
  const query = savedQuery(values)
  const current = saved.find((filter) => filter.query === query)
  const isNew = form.issues.length > 0 || (query !== '' && !current)
  if (saved.length === 0 && !isNew) return false
  return html`<nav class="flex flex-wrap items-center gap-2" aria-label="Saved filters">
${saved.map((filter) => link(ctx, filter, filter === current))}
${current && mayDelete(ctx, current) && confirmButton({ label: 'Delete filter', question: `Delete the filter “${current.name}”?`, consequence: current.isShared ? 'It is deleted for everybody in the organization. The invites stay.' : 'The invites stay.', address: pathOf(ctx, `invites/filters/${current.id}/delete`) })}
${current?.namesErased && html`<p class="text-sm">This filter names an erased member.${isOwnFilter(ctx, current) && html` Choose somebody else and save it as “${current.name}”, or delete it.`}</p>`}
${isNew && saveForm(ctx, form, query)}
</nav>
`
}

const mayDelete = (ctx: Context, { memberId, isShared }: SavedFilter): boolean =>
  isOwnFilter(ctx, { memberId }) || (isShared && may(ctx, 'manage_members'))

const isOwnFilter = ({ actor }: Context, { memberId }: Pick<SavedFilter, 'memberId'>): boolean =>
  actor.kind === 'member' && actor.id === memberId

function link(ctx: Context, { name, query, isShared, namesErased }: SavedFilter, isCurrent: boolean): Html {
  const address = `${pathOf(ctx, 'invites')}?${new URLSearchParams(query)}`
  const label = html`${icon(isShared ? 'users' : 'list-checks', 'size-3.5')}${name}${namesErased && !name.includes(ERASED_MEMBER) && html` <span class="badge badge-sm badge-ghost">${ERASED_MEMBER}</span>`}`
  return isCurrent
    ? html`<a class="btn btn-sm btn-active" href="${address}" aria-current="page">${label}</a>`
    : html`<a class="btn btn-sm" href="${address}">${label}</a>`
}

const saveForm = (ctx: Context, form: Form, query: string): Html => html`<details ${form.issues.length > 0 && html`open`}>
<summary class="btn btn-sm btn-ghost">${icon('plus', 'size-3.5')}Save filter</summary>
<form method="post" action="${pathOf(ctx, 'invites/filters')}" class="panel mt-2">${onceField()}
<input type="hidden" name="query" value="${query}">
${field(form, { name: 'filterName', label: 'Filter name' })}
${may(ctx, 'read') && checkbox(form, { name: 'shared', label: 'Share with everybody who sees all invites' })}
<button class="btn btn-primary">Save filter</button>
</form>
</details>`

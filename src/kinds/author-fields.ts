import { type Html, html } from '../html/html.ts'
import { icon } from '../http/pages/icon.ts'
import type { AuthorForm } from './author.ts'
import { ROWS_BUTTON } from './rows.ts'

// Building blocks of the authors' forms.

type TextField = { name: string; label: string; hint?: string; isShort?: boolean; isLabelHidden?: boolean; focus?: boolean }

export function textField(form: AuthorForm, { name, label, hint, isShort, isLabelHidden, focus }: TextField): Html {
  const wrong = form.errorsOf(name)
  return html`<div class="min-w-0 ${!isShort && 'grow'}"><label class="${isLabelHidden ? 'sr-only' : 'mb-1.5 block text-sm font-medium'}" for="${name}">${label}</label>
${hint && html`<p class="hint mb-1.5" id="${name}-hint">${hint}</p>`}
<input id="${name}" name="${name}" type="text" class="${isShort ? 'input w-20' : 'input w-full'}" value="${form.values.get(name)}" dir="auto" autocomplete="off" inputmode="${isShort && 'numeric'}" aria-describedby="${describedBy(form, name, hint !== undefined)}" aria-invalid="${wrong.length > 0 && 'true'}" ${focus && html`autofocus`}>
${fieldError(form, name)}</div>`
}

type SelectField = {
  name: string
  label: string
  options: readonly (readonly [string, string])[]
  isLabelHidden?: boolean
  look?: string
}

/** Hidden fields, for forms in which only the key can be changed. */
export const hiddenFields = ({ values }: AuthorForm, ...names: string[]): Html =>
  html`${names.flatMap((name) => values.getAll(name).map((value) => html`<input type="hidden" name="${name}" value="${value}">`))}`

export const selectField = (
  form: AuthorForm,
  { name, label, options, isLabelHidden, look = 'select w-full' }: SelectField,
): Html =>
  html`<div><label class="${isLabelHidden ? 'sr-only' : 'mb-1.5 block text-sm font-medium'}" for="${name}">${label}</label>
<select id="${name}" name="${name}" class="${look}" aria-describedby="${describedBy(form, name, false)}" aria-invalid="${form.errorsOf(name).length > 0 && 'true'}">${options.map(([value, text]) => html`<option value="${value}" ${form.values.get(name) === value && html`selected`}>${text}</option>`)}</select>
${fieldError(form, name)}</div>`

export const checkboxField = ({ values }: AuthorForm, name: string, label: string): Html =>
  html`<label class="flex items-center gap-2.5 py-1.5 text-sm"><input type="checkbox" class="checkbox checkbox-sm" name="${name}" value="yes" ${values.has(name) && html`checked`}> ${label}</label>`

/** Value of `aria-describedby`: the ids of a field's hint and of its error. */
export const describedBy = (form: AuthorForm, name: string, hasHint: boolean): string | false =>
  [hasHint && `${name}-hint`, form.errorsOf(name).length > 0 && `${name}-mistake`].filter(Boolean).join(' ') || false

export const fieldError = (form: AuthorForm, name: string): Html | false => {
  const wrong = form.errorsOf(name)
  return wrong.length > 0 && html`<p class="mistake" id="${name}-mistake">${wrong.join(' ')}</p>`
}

/** Rows that can be added, moved, and removed by submit buttons. @param group field name of the errors that concern all rows. */
export function rowList(
  form: AuthorForm,
  {
    group,
    legend,
    hint,
    rows,
    add,
    most,
  }: { group: string; legend: string; hint: string; rows: Html[]; add: string; most: number },
): Html {
  return html`<fieldset class="mb-4" id="${group}" tabindex="-1" aria-describedby="${describedBy(form, group, true)}">
<legend class="mb-1.5 text-sm font-medium">${legend}</legend>
<p class="hint mb-2" id="${`${group}-hint`}">${hint}</p>
${fieldError(form, group)}
<ol class="grid gap-2">${rows}</ol>
${rows.length < most && html`<button class="btn btn-ghost btn-sm mt-2" name="${ROWS_BUTTON}" value="add" formnovalidate>${icon('plus')}${add}</button>`}
</fieldset>`
}

/** Menu of a row. @param noun the row, as in "option 2". @param further additional content. */
export const rowMenu = (id: string, noun: string, place: { isFirst: boolean; isLast: boolean }, further?: Html): Html =>
  html`<details class="dropdown dropdown-end"><summary class="btn btn-ghost btn-square btn-sm mt-1">${icon('ellipsis')}<span class="sr-only">More for ${noun}</span></summary>
<div class="dropdown-content bg-base-100 border-base-300 rounded-box z-20 mt-1 grid w-56 gap-1 border p-2 shadow-lg">${further}
${!place.isFirst && html`<button class="btn btn-ghost btn-sm w-full justify-start" name="${ROWS_BUTTON}" value="${`up-${id}`}" aria-label="Move up ${noun}" formnovalidate>${icon('arrow-up')}Move up</button>`}
${!place.isLast && html`<button class="btn btn-ghost btn-sm w-full justify-start" name="${ROWS_BUTTON}" value="${`down-${id}`}" aria-label="Move down ${noun}" formnovalidate>${icon('arrow-down')}Move down</button>`}
<button class="btn btn-ghost btn-sm w-full justify-start" name="${ROWS_BUTTON}" value="${`remove-${id}`}" aria-label="Remove ${noun}" formnovalidate>${icon('trash-2')}Remove</button>
</div></details>`

/** Percent of the points that a row gives. */
export const shareField = (form: AuthorForm, id: string, noun: string): Html => {
  const name = `share-${id}`
  return html`<span class="flex items-center gap-1 text-sm"><label class="sr-only" for="${name}">Percent of the points for ${noun}</label><input class="input w-16" id="${name}" name="${name}" inputmode="numeric" autocomplete="off" value="${form.values.get(name)}" aria-invalid="${form.errorsOf(name).length > 0 && 'true'}" aria-describedby="${form.errorsOf(name).length > 0 && `${name}-mistake`}">%</span>`
}

/** @returns an integer; the fallback for an empty field, NaN for an invalid one. */
export const readPercent = (typed: string, fallback: number): number =>
  typed === '' ? fallback : /^-?\d{1,3}$/.test(typed) ? Number(typed) : Number.NaN

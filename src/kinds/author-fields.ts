import { type Html, html } from '../html/html.ts'
import { icon } from '../http/pages/icon.ts'
import type { AuthorForm } from './author.ts'
import { ROWS } from './rows.ts'

// What the authors' forms are made of.

type Text = { name: string; label: string; hint?: string; isShort?: boolean; isLabelHidden?: boolean; focus?: boolean }

/** A labelled line to type into. @param text.isShort for a few digits. */
export function line(form: AuthorForm, { name, label, hint, isShort, isLabelHidden, focus }: Text): Html {
  const wrong = form.wrong(name)
  return html`<div class="min-w-0 ${!isShort && 'grow'}"><label class="${isLabelHidden ? 'sr-only' : 'mb-1.5 block text-sm font-medium'}" for="${name}">${label}</label>
${hint && html`<p class="hint mb-1.5" id="${name}-hint">${hint}</p>`}
<input id="${name}" name="${name}" type="text" class="${isShort ? 'input w-20' : 'input w-full'}" value="${form.values.get(name)}" dir="auto" autocomplete="off" inputmode="${isShort && 'numeric'}" aria-describedby="${describedBy(form, name, hint !== undefined)}" aria-invalid="${wrong.length > 0 && 'true'}" ${focus && html`autofocus`}>
${mistake(form, name)}</div>`
}

type Choose = {
  name: string
  label: string
  options: readonly (readonly [string, string])[]
  isLabelHidden?: boolean
  look?: string
}

/** Fields that are sent as they are, where only the key can be changed. */
export const kept = ({ values }: AuthorForm, ...names: string[]): Html =>
  html`${names.flatMap((name) => values.getAll(name).map((value) => html`<input type="hidden" name="${name}" value="${value}">`))}`

/** A labelled list to choose one of. */
export const choose = (form: AuthorForm, { name, label, options, isLabelHidden, look = 'select w-full' }: Choose): Html =>
  html`<div><label class="${isLabelHidden ? 'sr-only' : 'mb-1.5 block text-sm font-medium'}" for="${name}">${label}</label>
<select id="${name}" name="${name}" class="${look}" aria-describedby="${describedBy(form, name, false)}" aria-invalid="${form.wrong(name).length > 0 && 'true'}">${options.map(([value, text]) => html`<option value="${value}" ${form.values.get(name) === value && html`selected`}>${text}</option>`)}</select>
${mistake(form, name)}</div>`

/** A box to tick. */
export const tick = ({ values }: AuthorForm, name: string, label: string): Html =>
  html`<label class="flex items-center gap-2.5 py-1.5 text-sm"><input type="checkbox" class="checkbox checkbox-sm" name="${name}" value="yes" ${values.has(name) && html`checked`}> ${label}</label>`

/** The ids of what describes a field or a group of fields: its hint, and what is wrong with it. */
export const describedBy = (form: AuthorForm, name: string, hasHint: boolean): string | false =>
  [hasHint && `${name}-hint`, form.wrong(name).length > 0 && `${name}-mistake`].filter(Boolean).join(' ') || false

export const mistake = (form: AuthorForm, name: string): Html | false => {
  const wrong = form.wrong(name)
  return wrong.length > 0 && html`<p class="mistake" id="${name}-mistake">${wrong.join(' ')}</p>`
}

/** Rows that can be added, moved and removed by buttons that send the form. @param group what they are, as a field that can be wrong. */
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
${mistake(form, group)}
<ol class="grid gap-2">${rows}</ol>
${rows.length < most && html`<button class="btn btn-ghost btn-sm mt-2" name="${ROWS}" value="add" formnovalidate>${icon('plus')}${add}</button>`}
</fieldset>`
}

/** What can be done with a row. @param noun what it is, as in "option 2". @param further what else stands there. */
export const rowMenu = (id: string, noun: string, place: { isFirst: boolean; isLast: boolean }, further?: Html): Html =>
  html`<details class="dropdown dropdown-end"><summary class="btn btn-ghost btn-square btn-sm mt-1">${icon('ellipsis')}<span class="sr-only">More for ${noun}</span></summary>
<div class="dropdown-content bg-base-100 border-base-300 rounded-box z-20 mt-1 grid w-56 gap-1 border p-2 shadow-lg">${further}
${!place.isFirst && html`<button class="btn btn-ghost btn-sm w-full justify-start" name="${ROWS}" value="${`up-${id}`}" aria-label="Move up ${noun}" formnovalidate>${icon('arrow-up')}Move up</button>`}
${!place.isLast && html`<button class="btn btn-ghost btn-sm w-full justify-start" name="${ROWS}" value="${`down-${id}`}" aria-label="Move down ${noun}" formnovalidate>${icon('arrow-down')}Move down</button>`}
<button class="btn btn-ghost btn-sm w-full justify-start" name="${ROWS}" value="${`remove-${id}`}" aria-label="Remove ${noun}" formnovalidate>${icon('trash-2')}Remove</button>
</div></details>`

/** The share of the points that a row gives, in percent. */
export const shareField = (form: AuthorForm, id: string, noun: string): Html => {
  const name = `share-${id}`
  return html`<span class="flex items-center gap-1 text-sm"><label class="sr-only" for="${name}">Percent of the points for ${noun}</label><input class="input w-16" id="${name}" name="${name}" inputmode="numeric" autocomplete="off" value="${form.values.get(name)}" aria-invalid="${form.wrong(name).length > 0 && 'true'}" aria-describedby="${form.wrong(name).length > 0 && `${name}-mistake`}">%</span>`
}

/** Whole percent; the given one where nothing was typed, NaN for what is none. */
export const readPercent = (typed: string, otherwise: number): number =>
  typed === '' ? otherwise : /^-?\d{1,3}$/.test(typed) ? Number(typed) : Number.NaN

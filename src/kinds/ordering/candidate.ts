import { html } from '../../html/html.ts'
import { renderWithPictures } from '../../http/pages/pictures.ts'
import type { Control } from '../control.ts'
import { formatOption } from '../format-option.ts'
import { printField } from './rules.ts'
import type { Answer, Spec } from './schema.ts'

/** A native <select> of places for each item, which supports keyboards and phones. A script moves the items as places are chosen. */
export const orderingControl: Control = (t, { version, shown, value, language, pictures }) => {
  const { items } = version.spec as Spec
  const places = (value ?? {}) as Answer
  const rows = arrangeItems(items, shown, places)
  return html`<fieldset class="mt-6" data-fields="places" lang="${language ?? ''}">
<legend class="font-medium">${t.text('ordering.each')}</legend>
<p class="hint mt-1">${t.text('ordering.hint')}</p>
<ol class="mt-2 grid gap-2">
${rows.map(({ id, text }) => {
  const item = formatOption(text)
  const options = items.map(
    (_, i) => html`<option value="${printField(id, i + 1)}" ${places[id] === i + 1 && html`selected`}>${i + 1}</option>`,
  )
  return html`<li class="panel flex flex-wrap items-center gap-3 p-4" data-item="${item}" data-up="${t.text('ordering.up', { item })}" data-down="${t.text('ordering.down', { item })}"><select id="answer-${id}" class="select w-24 text-base" name="answer"><option value="">${t.text('ordering.none')}</option>${options}</select>
<label for="answer-${id}" class="script min-w-0 grow basis-0" dir="auto">${renderWithPictures(text, pictures)}</label></li>
`
})}</ol>
<p class="sr-only" role="status"></p>
</fieldset>`
}

/** Items in the chosen order; items without a place come last, in the shuffled order. */
function arrangeItems(items: Spec['items'], shown: readonly string[], places: Answer): Spec['items'] {
  const shuffled = shown.length === 0 ? items : shown.flatMap((id) => items.find((item) => item.id === id) ?? [])
  return shuffled.toSorted((one, other) => (places[one.id] ?? Infinity) - (places[other.id] ?? Infinity) || 0)
}

import type { DefinitionFault } from '../../domain/ports/question-kind.ts'
import { type Html, html } from '../../html/html.ts'
import type { AuthorForm, KindForm, ParsedForm } from '../author.ts'
import { describedBy, fieldError, hiddenFields, rowList, rowMenu, selectField, textField } from '../author-fields.ts'
import { formatOption } from '../format-option.ts'
import { newRowId, rowReader, rowsOf } from '../rows.ts'
import { MAX_ITEMS } from './rules.ts'
import type { Key, Spec } from './schema.ts'

const NEW_ROWS = 4
const MAX_CHARACTERS = 500
const byText = new Intl.Collator('en', { numeric: true })

/** The rows are in the right order. */
export const orderingAuthor: KindForm = {
  offers: [{ word: 'ordering', label: 'Ordering', description: 'Items to put in order', icon: 'list-ordered' }],
  begin: (random) => new URLSearchParams(Array.from({ length: NEW_ROWS }, (): [string, string] => ['row', newRowId(random)])),
  print: (spec, key) => {
    const { items } = spec as Spec
    const values = new URLSearchParams()
    for (const id of (key as Key).order) {
      values.append('row', id)
      values.set(`text-${id}`, items.find((item) => item.id === id)?.text ?? '')
    }
    return values
  },
  read: parseForm,
  fields: (_, form) => (form.isKeyOnly ? keyFields(form) : fields(form)),
  pictured: (values) => rowsOf(values).map((id, i) => [`text-${id}`, `In item ${i + 1}`]),
}

/** Empty rows are ignored. Items are stored in alphabetical order, because the order of the rows is the key. */
function parseForm(_: string, values: URLSearchParams): ParsedForm {
  const readRow = rowReader(values)
  const rows = rowsOf(values)
    .map((id, i) => ({ id, text: readRow('text', id), place: Number(readRow('place', id)) || i + 1 }))
    .filter(({ text }) => text !== '')
    .sort((one, other) => one.place - other.place)
  const faults = rows.flatMap(({ id, text }): DefinitionFault[] =>
    [...text].length > MAX_CHARACTERS ? [{ field: `text-${id}`, text: `At most ${MAX_CHARACTERS} characters.` }] : [],
  )
  if (rows.length > MAX_ITEMS) faults.push({ field: 'items', text: `At most ${MAX_ITEMS} items.` })
  if (new Set(rows.map(({ place }) => place)).size < rows.length)
    faults.push({ field: 'items', text: 'Two items have the same place.' })
  const items = rows.map(({ id, text }) => ({ id, text })).sort((one, other) => byText.compare(one.text, other.text))
  const fieldOf = (path: string) => {
    const [, row] = /^spec\.items\.(\d+)/.exec(path) ?? []
    return row === undefined ? 'items' : `text-${items[Number(row)]!.id}`
  }
  return { spec: { items }, key: { order: rows.map(({ id }) => id) }, faults, fieldOf }
}

const fields = (form: AuthorForm): Html =>
  rowList(form, {
    group: 'items',
    legend: 'Items in the right order',
    hint: 'Each candidate gets them in another order. Each item in its right place gives its share of the points. Empty rows are left out.',
    rows: rowsOf(form.values).map((id, i, all) => itemRow(form, { id, place: i + 1, isLast: i === all.length - 1 })),
    add: 'Add an item',
    most: MAX_ITEMS,
  })

const itemRow = (form: AuthorForm, { id, place, isLast }: { id: string; place: number; isLast: boolean }): Html =>
  html`<li class="flex items-start gap-2"><input type="hidden" name="row" value="${id}">
${textField(form, { name: `text-${id}`, label: `Item ${place}`, isLabelHidden: true, focus: form.focus === id })}
${rowMenu(id, `item ${place}`, { isFirst: place === 1, isLast })}</li>`

/** A place for each item, if the items can't be changed. */
function keyFields(form: AuthorForm): Html {
  const readRow = rowReader(form.values)
  const rows = rowsOf(form.values)
  const options = rows.map((_, i) => [String(i + 1), String(i + 1)] as const)
  return html`<fieldset class="mb-4 grid gap-2" id="items" tabindex="-1" aria-describedby="${describedBy(form, 'items', false)}"><legend class="mb-1.5 text-sm font-medium">Place of each item</legend>
${fieldError(form, 'items')}
${rows.map((id, i) => {
  const name = `place-${id}`
  const values = new URLSearchParams(form.values)
  if (!values.has(name)) values.set(name, String(i + 1))
  const label = formatOption(readRow('text', id))
  return html`<input type="hidden" name="row" value="${id}">${hiddenFields(form, `text-${id}`)}${selectField({ ...form, values }, { name, label, options, look: 'select w-24' })}`
})}</fieldset>`
}

import type { DefinitionFault } from '../../domain/ports/question-kind.ts'
import { type Html, html } from '../../html/html.ts'
import type { AuthorForm, KindForm, ParsedForm } from '../author.ts'
import { fieldError, hiddenFields, readPercent, rowList, rowMenu, selectField, shareField, textField } from '../author-fields.ts'
import { newRowId, readTrimmed, rowReader, rowsOf } from '../rows.ts'
import { readNumber } from './read-number.ts'
import type { Key, Spec } from './schema.ts'

const MAX_NUMBERS = 50

/** Comparison of a row. */
const COMPARISONS = [
  ['exactly', 'exactly'],
  ['absolute', '± a number'],
  ['percent', '± percent'],
  ['range', 'up to'],
] as const

export const numberAuthor: KindForm = {
  offers: [{ word: 'number', label: 'Number', description: 'A number, with a tolerance', icon: 'hash' }],
  begin(random) {
    const id = newRowId(random)
    return new URLSearchParams({ row: id, [`share-${id}`]: '100' })
  },
  print(spec, key, random) {
    const values = new URLSearchParams({ unit: (spec as Spec).unit ?? '' })
    for (const answer of (key as Key).answers) {
      const id = newRowId(random)
      values.append('row', id)
      values.set(`share-${id}`, String(answer.share))
      const [value, comparison, second] =
        'from' in answer
          ? [answer.from, 'range', answer.to]
          : [answer.value, answer.tolerance?.in ?? 'exactly', answer.tolerance?.by ?? '']
      values.set(`value-${id}`, value)
      values.set(`way-${id}`, comparison)
      values.set(`second-${id}`, second)
    }
    return values
  },
  read: parseForm,
  fields: (_, form) => html`${rowList(form, {
    group: 'answers',
    legend: 'Accepted numbers',
    hint: 'An exact number, a number with a tolerance, or a range. The best match counts.',
    rows: rowsOf(form.values).map((id, i, all) => row(form, { id, place: i + 1, isLast: i === all.length - 1 })),
    add: 'Add a number',
    most: MAX_NUMBERS,
  })}
${form.isKeyOnly ? hiddenFields(form, 'unit') : html`<div class="field">${textField(form, { name: 'unit', label: 'Unit', hint: 'Shown after the field, such as km. Optional.' })}</div>`}`,
}

function parseForm(_: string, values: URLSearchParams): ParsedForm {
  const allRows = rowsOf(values)
  const readRow = rowReader(values)
  const filled = allRows.filter((id) => readRow('value', id) !== '')
  const rows = filled.length > 0 ? filled : allRows.slice(0, 1)
  const unit = readTrimmed(values, 'unit')
  const faults: DefinitionFault[] = unit.length > 40 ? [{ field: 'unit', text: 'At most 40 characters.' }] : []
  if (rows.length === 0) faults.push({ field: 'answers', text: 'Enter a correct number.' })
  if (rows.length > MAX_NUMBERS) faults.push({ field: 'answers', text: `At most ${MAX_NUMBERS} numbers.` })
  const answers = rows.map((id): Key['answers'][number] => {
    const decimal = (name: string) => readDecimal(readRow(name, id), `${name}-${id}`, faults)
    const share = readPercent(readRow('share', id), 100)
    if (!(share >= 1 && share <= 100)) faults.push({ field: `share-${id}`, text: 'Enter whole percent from 1 to 100.' })
    const [value, comparison] = [decimal('value'), readRow('way', id)]
    if (comparison === 'range') return { from: value, to: decimal('second'), share }
    if (comparison !== 'absolute' && comparison !== 'percent') return { value, share }
    return { value, tolerance: { by: decimal('second'), in: comparison }, share }
  })
  return { spec: unit ? { unit } : {}, key: { answers }, faults, fieldOf: (path) => fieldOf(rows, path) }
}

/** Accepts the notations that candidates may use, except ambiguous ones. */
function readDecimal(typed: string, field: string, faults: DefinitionFault[]): string {
  const [decimal, otherReading] = readNumber(typed)
  if (decimal === undefined) faults.push({ field, text: typed === '' ? 'Enter a number.' : `“${typed}” is not a number.` })
  else if (otherReading !== undefined)
    faults.push({ field, text: `Write ${otherReading} without a comma, or ${decimal} with a point.` })
  return decimal ?? '0'
}

function fieldOf(rows: string[], path: string): string {
  const [, row, subpath = ''] = /^key\.answers\.(\d+)\.?(.*)$/.exec(path) ?? []
  if (row === undefined) return path === 'spec.unit' ? 'unit' : 'answers'
  return `${/^(to|tolerance)/.test(subpath) ? 'second' : 'value'}-${rows[Number(row)]}`
}

type Place = { id: string; place: number; isLast: boolean }

/** CSS shows the field for the second number unless the comparison is `exactly`. */
function row(form: AuthorForm, { id, place, isLast }: Place): Html {
  const noun = `number ${place}`
  return html`<li class="group"><div class="flex items-start gap-2"><input type="hidden" name="row" value="${id}">
<div class="grid min-w-0 grow grid-cols-2 gap-2">
${number(form, `value-${id}`, `Number ${place}`, form.focus === id)}
${selectField(form, { name: `way-${id}`, label: `How number ${place} is compared`, options: COMPARISONS, isLabelHidden: true })}
<div class="hidden group-has-[option:not([value=exactly]):checked]:block">${number(form, `second-${id}`, `Tolerance or end of number ${place}`, false)}</div>
${shareField(form, id, noun)}</div>
${rowMenu(id, noun, { isFirst: place === 1, isLast })}</div>
${fieldError(form, `value-${id}`)}${fieldError(form, `second-${id}`)}${fieldError(form, `share-${id}`)}</li>`
}

const number = (form: AuthorForm, name: string, label: string, hasFocus: boolean): Html =>
  html`<label class="sr-only" for="${name}">${label}</label><input class="input w-full" id="${name}" name="${name}" inputmode="decimal" autocomplete="off" value="${form.values.get(name)}" aria-invalid="${form.errorsOf(name).length > 0 && 'true'}" aria-describedby="${form.errorsOf(name).length > 0 && `${name}-mistake`}" ${hasFocus && html`autofocus`}>`

import { createHash } from 'node:crypto'
import type { DefinitionFault } from '../../domain/ports/question-kind.ts'
import { normalize } from '../../domain/text/normalize.ts'
import { type Html, html } from '../../html/html.ts'
import type { AuthorForm, KindForm, ParsedForm } from '../author.ts'
import {
  checkboxField,
  describedBy,
  fieldError,
  hiddenFields,
  rowList,
  rowMenu,
  selectField,
  textField,
} from '../author-fields.ts'
import { formatOption } from '../format-option.ts'
import { newRowId, rowReader, rowsOf } from '../rows.ts'
import { pairUp, splitPairs } from './pair-up.ts'
import { MAX_ROWS, TOO_MANY_ROWS } from './rules.ts'
import type { Key, Spec } from './schema.ts'

/** Hidden fields named `choice` hold the stored choices, so that they keep their ids. */
export const matchingAuthor: KindForm = {
  offers: [{ word: 'matching', label: 'Matching', description: 'Prompts and their matching choices', icon: 'link' }],
  begin: (random) => {
    const rows = Array.from({ length: 3 }, (): [string, string] => ['row', newRowId(random)])
    return new URLSearchParams([...rows, ['shuffle', 'yes']])
  },
  print: (spec, key, random) => {
    const values = new URLSearchParams((spec as Spec).shuffle ? { shuffle: 'yes' } : {})
    for (const { id, prompt, choice } of splitPairs(spec as Spec, key as Key)) {
      const row = id ?? newRowId(random)
      values.append('row', row)
      values.set(`text-${row}`, prompt)
      values.set(`fits-${row}`, choice)
    }
    for (const { id, text } of (spec as Spec).choices) values.append('choice', `${id} ${text}`)
    return values
  },
  read: parseForm,
  fields: (_, form) => (form.isKeyOnly ? keyFields(form) : fields(form)),
  pictured: (values) => rowsOf(values).map((id, i) => [`text-${id}`, `In prompt ${i + 1}`]),
}

const MAX_CHARACTERS = 1_000

/** At most one for each row of the form. */
const storedChoices = (values: URLSearchParams) =>
  values
    .getAll('choice')
    .slice(0, 2 * MAX_ROWS)
    .map((choice) => ({ id: choice.slice(0, 8), text: cut(choice.slice(9)) }))

/** Keeps one character more than allowed, so that the text is still too long. */
const cut = (text: string): string => [...text.slice(0, 2 * (MAX_CHARACTERS + 1))].slice(0, MAX_CHARACTERS + 1).join('')

/** Empty rows are ignored. A row without a prompt is a distractor. */
function parseForm(_: string, values: URLSearchParams): ParsedForm {
  const readRow = rowReader(values)
  const rows = rowsOf(values)
    .map((id) => ({ id, prompt: cut(readRow('text', id)), choice: cut(readRow('fits', id)) }))
    .filter(({ prompt, choice }) => prompt !== '' || choice !== '')
  const stored = new Map(storedChoices(values).map(({ id, text }) => [normalize(text), id]))
  const { key, ...named } = pairUp(rows, (text) => stored.get(text) ?? idOf(text))
  const faults = rows.flatMap(({ id, prompt, choice }) =>
    Object.entries({ text: prompt, fits: choice })
      .filter(([, text]) => [...text].length > MAX_CHARACTERS)
      .map(([name]): DefinitionFault => ({ field: `${name}-${id}`, text: `At most ${MAX_CHARACTERS} characters.` })),
  )
  const { prompts, choices } = named
  if (prompts.length > MAX_ROWS || choices.length > MAX_ROWS) faults.push({ field: 'pairs', text: TOO_MANY_ROWS })
  const fieldOf = (path: string) => {
    const [, row] = /^spec\.prompts\.(\d+)/.exec(path) ?? []
    if (row !== undefined) return `text-${named.prompts[Number(row)]!.id}`
    return path.startsWith('key.pairs.') ? path.replace('key.pairs.', 'fits-') : 'pairs'
  }
  // Previews also show invalid questions, with every choice for every prompt. Cutting the lists bounds their size.
  const spec = {
    prompts: prompts.slice(0, MAX_ROWS),
    choices: choices.slice(0, MAX_ROWS),
    shuffle: values.has('shuffle'),
  }
  return { spec, key, faults, fieldOf }
}

/** Eight letters derived from the text: the id of the row would reveal the right prompt, and random ids would change with each submit. */
const idOf = (text: string): string =>
  String.fromCharCode(...[...createHash('sha256').update(text).digest().subarray(0, 8)].map((byte) => 97 + (byte % 26)))

const fields = (form: AuthorForm): Html => html`${rowList(form, {
  group: 'pairs',
  legend: 'Prompts and their matching choices',
  hint: 'Repeat a choice that fits several prompts. A choice without a prompt fits none. Empty rows are left out.',
  rows: rowsOf(form.values).map((id, i, all) => pairRow(form, { id, place: i + 1, isLast: i === all.length - 1 })),
  add: 'Add a pair',
  most: MAX_ROWS,
})}
${hiddenFields(form, 'choice')}
${checkboxField(form, 'shuffle', 'Shuffle prompts and choices for each candidate')}
<p class="hint">Otherwise choices are in alphabetical order.</p>`

const pairRow = (form: AuthorForm, { id, place, isLast }: { id: string; place: number; isLast: boolean }): Html =>
  html`<li class="flex items-start gap-2"><input type="hidden" name="row" value="${id}">
<div class="grid min-w-0 grow gap-2 sm:grid-cols-2">
${textField(form, { name: `text-${id}`, label: `Prompt ${place}`, isLabelHidden: true, focus: form.focus === id })}
${textField(form, { name: `fits-${id}`, label: `Choice for prompt ${place}`, isLabelHidden: true })}</div>
${rowMenu(id, `pair ${place}`, { isFirst: place === 1, isLast })}</li>`

/** Fields of the key, for prompts that can't be changed. Each choice has a hidden row, so that it remains if no prompt uses it. */
function keyFields(form: AuthorForm): Html {
  const stored = storedChoices(form.values)
  const readRow = rowReader(form.values)
  const prompts = rowsOf(form.values)
    .filter((id) => readRow('text', id) !== '')
    .slice(0, MAX_ROWS)
  return html`<fieldset class="mb-4 grid gap-2" id="pairs" tabindex="-1" aria-describedby="${describedBy(form, 'pairs', false)}"><legend class="mb-1.5 text-sm font-medium">Choice for each prompt</legend>
${fieldError(form, 'pairs')}
${prompts.map((id) => {
  const label = formatOption(readRow('text', id))
  const options = stored.map(({ text }) => [text, formatOption(text)] as const)
  return html`<input type="hidden" name="row" value="${id}">${hiddenFields(form, `text-${id}`)}${selectField(form, { name: `fits-${id}`, label, options })}`
})}
${stored.map(({ id, text }) => html`<input type="hidden" name="row" value="${id}"><input type="hidden" name="fits-${id}" value="${text}">`)}
${hiddenFields(form, 'choice', 'shuffle')}</fieldset>`
}

import { createHash } from 'node:crypto'
import type { Fault } from '../../domain/ports/question-kind.ts'
import { type Html, html } from '../../html/html.ts'
import type { Author, AuthorForm, Read } from '../author.ts'
import { choose, describedBy, kept, line, mistake, rowList, rowMenu, tick } from '../author-fields.ts'
import { normalize } from '../normalize.ts'
import { newRowId, rowReader, rowsOf } from '../rows.ts'
import { wordOption } from '../word-option.ts'
import { pairUp, splitPairs } from './pair-up.ts'
import { MOST_ROWS, TOO_MANY_ROWS } from './rules.ts'
import type { Key, Spec } from './schema.ts'

/** The form of questions that match. What is stored of the choices comes along in fields named `choice`: they keep their ids. */
export const matchingAuthor: Author = {
  offers: [{ word: 'matching', label: 'Matching', line: 'Prompts, and what fits each', icon: 'link' }],
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
  read,
  fields: (_, form) => (form.isKeyOnly ? keyFields(form) : fields(form)),
  pictured: (values) => rowsOf(values).map((id, i) => [`text-${id}`, `Into prompt ${i + 1}`]),
}

const MOST_CHARACTERS = 1_000

/** At most as many as rows that the form of a key has. */
const storedChoices = (values: URLSearchParams) =>
  values
    .getAll('choice')
    .slice(0, 2 * MOST_ROWS)
    .map((choice) => ({ id: choice.slice(0, 8), text: cut(choice.slice(9)) }))

/** One more than there may be, so that it is still too long. */
const cut = (text: string): string => [...text.slice(0, 2 * (MOST_CHARACTERS + 1))].slice(0, MOST_CHARACTERS + 1).join('')

/** Rows without anything in them are none; one without a prompt is a choice that fits none. */
function read(_: string, values: URLSearchParams): Read {
  const readRow = rowReader(values)
  const rows = rowsOf(values)
    .map((id) => ({ id, prompt: cut(readRow('text', id)), choice: cut(readRow('fits', id)) }))
    .filter(({ prompt, choice }) => prompt !== '' || choice !== '')
  const stored = new Map(storedChoices(values).map(({ id, text }) => [normalize(text), id]))
  const { key, ...named } = pairUp(rows, (text) => stored.get(text) ?? idOf(text))
  const faults = rows.flatMap(({ id, prompt, choice }) =>
    Object.entries({ text: prompt, fits: choice })
      .filter(([, text]) => [...text].length > MOST_CHARACTERS)
      .map(([name]): Fault => ({ field: `${name}-${id}`, text: `At most ${MOST_CHARACTERS} characters.` })),
  )
  const { prompts, choices } = named
  if (prompts.length > MOST_ROWS || choices.length > MOST_ROWS) faults.push({ field: 'pairs', text: TOO_MANY_ROWS })
  const fieldOf = (path: string) => {
    const [, row] = /^spec\.prompts\.(\d+)/.exec(path) ?? []
    if (row !== undefined) return `text-${named.prompts[Number(row)]!.id}`
    return path.startsWith('key.pairs.') ? path.replace('key.pairs.', 'fits-') : 'pairs'
  }
  // A preview shows also what is refused, each choice with each prompt: of too many it shows no more than of the most there may be.
  const spec = {
    prompts: prompts.slice(0, MOST_ROWS),
    choices: choices.slice(0, MOST_ROWS),
    shuffle: values.has('shuffle'),
  }
  return { spec, key, faults, fieldOf }
}

/** Eight letters from the text alone: those of its row would say what it fits, and a form without a script could keep no others. */
const idOf = (text: string): string =>
  String.fromCharCode(...[...createHash('sha256').update(text).digest().subarray(0, 8)].map((byte) => 97 + (byte % 26)))

const fields = (form: AuthorForm): Html => html`${rowList(form, {
  group: 'pairs',
  legend: 'Prompts, and what fits each',
  hint: 'What fits several prompts is written with each of them; what stands without a prompt fits none. Empty rows are left out.',
  rows: rowsOf(form.values).map((id, i, all) => pairRow(form, { id, place: i + 1, isLast: i === all.length - 1 })),
  add: 'Add a pair',
  most: MOST_ROWS,
})}
${kept(form, 'choice')}
${tick(form, 'shuffle', 'Shuffle prompts and choices for each candidate')}
<p class="hint">If not, choices stand in alphabetical order.</p>`

const pairRow = (form: AuthorForm, { id, place, isLast }: { id: string; place: number; isLast: boolean }): Html =>
  html`<li class="flex items-start gap-2"><input type="hidden" name="row" value="${id}">
<div class="grid min-w-0 grow gap-2 sm:grid-cols-2">
${line(form, { name: `text-${id}`, label: `Prompt ${place}`, isLabelHidden: true, focus: form.focus === id })}
${line(form, { name: `fits-${id}`, label: `What fits prompt ${place}`, isLabelHidden: true })}</div>
${rowMenu(id, `pair ${place}`, { isFirst: place === 1, isLast })}</li>`

/** What fits prompts that stay. Each choice has a row of its own as well: it stays, too, where it fits none any more. */
function keyFields(form: AuthorForm): Html {
  const stored = storedChoices(form.values)
  const readRow = rowReader(form.values)
  const prompts = rowsOf(form.values)
    .filter((id) => readRow('text', id) !== '')
    .slice(0, MOST_ROWS)
  return html`<fieldset class="mb-4 grid gap-2" id="pairs" tabindex="-1" aria-describedby="${describedBy(form, 'pairs', false)}"><legend class="mb-1.5 text-sm font-medium">What fits each prompt</legend>
${mistake(form, 'pairs')}
${prompts.map((id) => {
  const label = wordOption(readRow('text', id))
  const options = stored.map(({ text }) => [text, wordOption(text)] as const)
  return html`<input type="hidden" name="row" value="${id}">${kept(form, `text-${id}`)}${choose(form, { name: `fits-${id}`, label, options })}`
})}
${stored.map(({ id, text }) => html`<input type="hidden" name="row" value="${id}"><input type="hidden" name="fits-${id}" value="${text}">`)}
${kept(form, 'choice', 'shuffle')}</fieldset>`
}

import type { DefinitionFault } from '../../domain/ports/question-kind.ts'
import { type Html, html } from '../../html/html.ts'
import type { AuthorForm, KindForm, ParsedForm } from '../author.ts'
import {
  checkboxField,
  fieldError,
  hiddenFields,
  readPercent,
  rowList,
  rowMenu,
  selectField,
  shareField,
} from '../author-fields.ts'
import { newRowId, rowReader, rowsOf } from '../rows.ts'
import { type ExampleAnswer, exampleAnswers } from './example-answers.ts'
import { shortTextRules } from './rules.ts'
import type { Key, Spec } from './schema.ts'

const MAX_TEXTS = 50

export const shortTextAuthor: KindForm = {
  offers: [
    {
      word: 'short_text',
      label: 'Short text',
      description: 'A word or sentence, compared with accepted texts',
      icon: 'text-cursor',
    },
  ],
  begin(random) {
    const id = newRowId(random)
    return new URLSearchParams({ row: id, [`share-${id}`]: '100', lines: '1', otherwise: 'people' })
  },
  print(spec, key, random) {
    const { accepted, caseSensitive, ignore, otherwise } = key as Key
    const values = new URLSearchParams({ lines: String((spec as Spec).lines), otherwise })
    for (const [name, isTicked] of Object.entries({ caseSensitive, ...ignore })) if (isTicked) values.set(name, 'yes')
    for (const { text, share } of accepted) {
      const id = newRowId(random)
      values.append('row', id)
      values.set(`text-${id}`, text)
      values.set(`share-${id}`, String(share))
    }
    return values
  },
  read: parseForm,
  fields: (word, form) => html`${rowList(form, {
    group: 'accepted',
    legend: 'Accepted texts',
    hint: 'An asterisk stands for any characters: “colo*r” accepts color and colour. The best match counts.',
    rows: rowsOf(form.values).map((id, i, all) => row(form, { id, place: i + 1, isLast: i === all.length - 1 })),
    add: 'Add a text',
    most: MAX_TEXTS,
  })}
<fieldset class="mb-4"><legend class="mb-1.5 text-sm font-medium">How answers are compared</legend>
${checkboxField(form, 'accents', 'Ignore accents: “Jose” is accepted for “José”')}
${checkboxField(form, 'punctuation', 'Ignore punctuation: quotes, brackets, and . , ; : ! ? at the ends of words')}
${checkboxField(form, 'caseSensitive', 'Capital letters must match')}
</fieldset>
${examplesOf(word, parseForm(word, form.values))}
<div class="field">${selectField(form, {
    name: 'otherwise',
    label: 'Any other text',
    options: [
      ['people', 'is read by a grader'],
      ['wrong', 'gets no points'],
    ],
  })}</div>
${
  form.isKeyOnly
    ? hiddenFields(form, 'lines')
    : html`<div class="field">${selectField(form, {
        name: 'lines',
        label: 'The field has',
        options: [
          ['1', 'one line'],
          ['3', 'three lines'],
        ],
      })}</div>`
}`,
}

function parseForm(_: string, values: URLSearchParams): ParsedForm {
  const readRow = rowReader(values)
  const rows = rowsOf(values).filter((id) => readRow('text', id) !== '')
  const faults: DefinitionFault[] = rows.length === 0 ? [{ field: 'accepted', text: 'Enter an accepted text.' }] : []
  if (rows.length > MAX_TEXTS) faults.push({ field: 'accepted', text: `At most ${MAX_TEXTS} texts.` })
  const accepted = rows.map((id) => {
    const text = readRow('text', id)
    const share = readPercent(readRow('share', id), 100)
    if (text.length > 500) faults.push({ field: `text-${id}`, text: 'At most 500 characters.' })
    if (!(share >= 1 && share <= 100)) faults.push({ field: `share-${id}`, text: 'Enter whole percent from 1 to 100.' })
    return { text, share }
  })
  const ignore = { accents: values.has('accents'), punctuation: values.has('punctuation') }
  const spec: Spec = { lines: values.get('lines') === '3' ? 3 : 1 }
  const key: Key = {
    accepted,
    caseSensitive: values.has('caseSensitive'),
    ignore,
    otherwise: values.get('otherwise') === 'wrong' ? 'wrong' : 'people',
  }
  return { spec, key, faults, fieldOf: (path) => fieldOf(rows, path) }
}

/** Answers that the key accepts and rejects, or a placeholder while the key is incomplete. */
function examplesOf(word: string, { spec, key, faults }: ParsedForm): Html {
  const isComplete = faults.length === 0 && shortTextRules.faults(word, spec, key).length === 0
  const { accepted, rejected } = isComplete ? exampleAnswers(key as Key) : { accepted: [], rejected: [] }
  const rejection = (key as Key).otherwise === 'people' ? 'Left to a grader, for example' : 'Not accepted, for example'
  return html`<div class="hint mb-4 grid gap-x-6 gap-y-2 sm:grid-cols-2" role="status" data-outlook>${
    isComplete
      ? html`${exampleList('Accepted, for example', accepted)}${exampleList(rejection, rejected)}`
      : html`<p>Once the accepted texts are complete, examples of answers are shown here.</p>`
  }</div>`
}

const exampleList = (title: string, answers: ExampleAnswer[]): Html =>
  html`<div><p class="font-medium">${title}</p><ul>${answers.map(({ text, change }) => html`<li><q class="whitespace-pre-wrap" dir="auto">${text}</q> (${change})</li>`)}</ul></div>`

function fieldOf(rows: string[], path: string): string {
  const [, row] = /^key\.accepted\.(\d+)/.exec(path) ?? []
  return row === undefined ? 'accepted' : `text-${rows[Number(row)]}`
}

type Place = { id: string; place: number; isLast: boolean }

function row(form: AuthorForm, { id, place, isLast }: Place): Html {
  const name = `text-${id}`
  const isWrong = form.errorsOf(name).length > 0
  return html`<li><div class="flex items-start gap-2"><input type="hidden" name="row" value="${id}">
<label class="sr-only" for="${name}">Text ${place}</label><input class="input min-w-0 grow" id="${name}" name="${name}" value="${form.values.get(name)}" dir="auto" autocomplete="off" spellcheck="false" aria-invalid="${isWrong && 'true'}" aria-describedby="${isWrong && `${name}-mistake`}" ${form.focus === id && html`autofocus`}>
${shareField(form, id, `text ${place}`)}
${rowMenu(id, `text ${place}`, { isFirst: place === 1, isLast })}</div>
${fieldError(form, name)}${fieldError(form, `share-${id}`)}</li>`
}

import type { Fault } from '../../domain/values/question-kind.ts'
import { type Html, html } from '../../html/html.ts'
import type { Author, AuthorForm, Read } from '../author.ts'
import { choose, kept, mistake, readPercent, rowList, rowMenu, shareField, tick } from '../author-fields.ts'
import { newRowId, rowReader, rowsOf } from '../rows.ts'
import type { Key, Spec } from './schema.ts'

const MOST_TEXTS = 50

/** The form of questions that are answered by a word or a sentence. */
export const shortTextAuthor: Author = {
  offers: [{ word: 'short_text', label: 'Short text', line: 'A word or a sentence that is compared', icon: 'text-cursor' }],
  begin(random) {
    const id = newRowId(random)
    return new URLSearchParams({ row: id, [`share-${id}`]: '100', lines: '1', otherwise: 'people' })
  },
  print(spec, key, random) {
    const { accepted, exact, otherwise } = key as Key
    const values = new URLSearchParams({ lines: String((spec as Spec).lines), otherwise })
    for (const name of ['case', 'accents', 'punctuation'] as const) if (exact[name]) values.set(name, 'yes')
    for (const { text, share } of accepted) {
      const id = newRowId(random)
      values.append('row', id)
      values.set(`text-${id}`, text)
      values.set(`share-${id}`, String(share))
    }
    return values
  },
  read,
  fields: (_, form) => html`${rowList(form, {
    group: 'accepted',
    legend: 'Accepted texts',
    hint: 'An asterisk stands for any characters: “colo*r” takes color and colour. The best that fits counts.',
    rows: rowsOf(form.values).map((id, i, all) => row(form, { id, place: i + 1, isLast: i === all.length - 1 })),
    add: 'Add a text',
    most: MOST_TEXTS,
  })}
<div class="field">${choose(form, {
    name: 'otherwise',
    label: 'Any other text',
    options: [
      ['people', 'is read by a grader'],
      ['wrong', 'gets no points'],
    ],
  })}</div>
${
  form.isKeyOnly
    ? kept(form, 'lines')
    : html`<div class="field">${choose(form, {
        name: 'lines',
        label: 'The field has',
        options: [
          ['1', 'one line'],
          ['3', 'three lines'],
        ],
      })}</div>`
}
<fieldset class="mb-4"><legend class="mb-1.5 text-sm font-medium">Has to be exactly so</legend>
${tick(form, 'case', 'Capital letters')}${tick(form, 'accents', 'Accents')}${tick(form, 'punctuation', 'Punctuation')}</fieldset>`,
}

function read(_: string, values: URLSearchParams): Read {
  const readRow = rowReader(values)
  const rows = rowsOf(values).filter((id) => readRow('text', id) !== '')
  const faults: Fault[] = rows.length === 0 ? [{ field: 'accepted', text: 'Write a text that is right.' }] : []
  if (rows.length > MOST_TEXTS) faults.push({ field: 'accepted', text: `At most ${MOST_TEXTS} texts.` })
  const accepted = rows.map((id) => {
    const text = readRow('text', id)
    const share = readPercent(readRow('share', id), 100)
    if (text.length > 500) faults.push({ field: `text-${id}`, text: 'At most 500 characters.' })
    if (!(share >= 1 && share <= 100)) faults.push({ field: `share-${id}`, text: 'Enter whole percent from 1 to 100.' })
    return { text, share }
  })
  const exact = { case: values.has('case'), accents: values.has('accents'), punctuation: values.has('punctuation') }
  const spec: Spec = { lines: values.get('lines') === '3' ? 3 : 1 }
  const key: Key = { accepted, exact, otherwise: values.get('otherwise') === 'wrong' ? 'wrong' : 'people' }
  return { spec, key, faults, fieldOf: (path) => fieldOf(rows, path) }
}

function fieldOf(rows: string[], path: string): string {
  const [, row] = /^key\.accepted\.(\d+)/.exec(path) ?? []
  return row === undefined ? 'accepted' : `text-${rows[Number(row)]}`
}

type Place = { id: string; place: number; isLast: boolean }

function row(form: AuthorForm, { id, place, isLast }: Place): Html {
  const name = `text-${id}`
  const isWrong = form.wrong(name).length > 0
  return html`<li><div class="flex items-start gap-2"><input type="hidden" name="row" value="${id}">
<label class="sr-only" for="${name}">Text ${place}</label><input class="input min-w-0 grow" id="${name}" name="${name}" value="${form.values.get(name)}" dir="auto" autocomplete="off" spellcheck="false" aria-invalid="${isWrong && 'true'}" aria-describedby="${isWrong && `${name}-mistake`}" ${form.focus === id && html`autofocus`}>
${shareField(form, id, `text ${place}`)}
${rowMenu(id, `text ${place}`, { isFirst: place === 1, isLast })}</div>
${mistake(form, name)}${mistake(form, `share-${id}`)}</li>`
}

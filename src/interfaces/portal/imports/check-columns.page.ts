import type { Context } from '../../../domain/context.ts'
import type { ImportFile, ImportKind } from '../../../domain/imports/import-files.ts'
import { type Html, html, type Value } from '../../../html/html.ts'
import { icon } from '../../../http/pages/icon.ts'
import { ENCODINGS } from '../../../tables/encodings.ts'
import { DELIMITERS } from '../../../tables/read-csv.ts'
import type { InspectedColumn, InspectedRow, Inspection } from '../../../uploads/inspect.ts'
import { type Form, mistakes } from '../kit/forms.ts'
import { type Page, pathOf } from '../kit/layout.ts'

/** Meanings that a column can have, by kind of file. */
const MEANINGS: Record<ImportKind, [meaning: string, label: string][]> = {
  questions: [
    ['text', 'Question'],
    ['right', 'Right answer'],
    ['rightByLabel', 'Right answer: letter or number of the option'],
    ['rightByText', 'Right answer: text of the option'],
    ...Array.from({ length: 20 }, (_, i): [string, string] => [`option:${i + 1}`, `Option ${String.fromCharCode(65 + i)}`]),
    ['options', 'All options in one cell'],
    ['wrong', 'Wrong option'],
    ['kind', 'Kind of question'],
    ['points', 'Points'],
    ['name', 'Name'],
    ['category', 'Category'],
    ['format', 'Format'],
  ],
  candidates: [
    ['email', 'Email address'],
    ['name', 'Name'],
    ['firstName', 'First name'],
    ['lastName', 'Last name'],
    ['language', 'Language'],
    ['tags', 'Tags'],
    ['message', 'Message to the person'],
    ['days', 'Expires in days'],
    ['extraTime', 'Extra time in percent'],
    ['grader', 'Grader'],
  ],
}
/** Required meaning, and the message if no column has it. */
export const REQUIRED: Record<ImportKind, [meaning: string, advice: string]> = {
  questions: ['text', 'Choose the column with the questions'],
  candidates: ['email', 'Choose the column with the email addresses'],
}
const NOUNS: Record<ImportKind, [one: string, many: string]> = {
  questions: ['question', 'questions'],
  candidates: ['person', 'people'],
}

type Facts = { ctx: Context; file: ImportFile; inspection: Inspection; hasChanged: boolean }

const count = (number: number, kind: ImportKind): string => `${number.toLocaleString('en')} ${NOUNS[kind][number === 1 ? 0 : 1]}`

/** Shows the columns of a file, their meanings, and the resulting rows. */
export function checkColumnsPage(form: Form, { ctx, file, inspection, hasChanged }: Facts): Page {
  const { kind } = file
  const [parent, start] = kind === 'questions' ? (['Questions', 'questions'] as const) : (['Invites', 'invites'] as const)
  const restartPath = kind === 'questions' ? 'questions/imports/new' : 'invites/batches'
  return {
    title: 'Check the columns',
    subtitle: subtitleOf(file, inspection),
    trail: [
      [parent, pathOf(ctx, start)],
      ['Import', pathOf(ctx, restartPath)],
    ],
    body: html`${mistakes(form)}<form method="post" class="space-y-6" action="${pathOf(ctx, `imports/${file.id}`)}">
<input type="hidden" name="shown" value="${shownState(inspection)}">
${hasChanged && html`<p class="alert alert-soft" role="status">The preview follows what you chose. Check it, then continue.</p>`}${warningOf(kind, inspection)}${notes(inspection)}
<div class="grid grid-cols-[minmax(0,1fr)] items-start gap-6 xl:grid-cols-[minmax(0,26rem)_minmax(0,1fr)]">
<div class="space-y-6">${readingPanel(inspection)}${inspection.isTable && columnsPanel(kind, inspection)}</div>
${rowsPanel(kind, inspection)}
</div>
${foot(kind, inspection, pathOf(ctx, restartPath))}
</form>`,
  }
}

/** State of the preview, sent with the form to detect menus that have changed since. */
export const shownState = ({ columns, headingLine, facts }: Inspection): string =>
  JSON.stringify([columns.map(({ meaning }) => meaning), headingLine, facts.sheet, facts.encoding, facts.delimiter])

function subtitleOf({ fileName, kind }: ImportFile, { facts, taken, leftOut }: Inspection): Value {
  const parts = [
    fileName || 'Pasted list',
    facts.sheets.length > 0 && facts.sheet && `sheet “${facts.sheet}”`,
    facts.delimiter && `separated by ${DELIMITERS[facts.delimiter] ? `${DELIMITERS[facts.delimiter]}s` : `“${facts.delimiter}”`}`,
    `${(taken + leftOut).toLocaleString('en')} rows`,
    kind === 'questions' ? 'nothing is saved yet' : 'nothing is sent yet',
  ]
  return parts.filter(Boolean).join(' · ')
}

const isMissing = (kind: ImportKind, { isTable, columns }: Inspection): boolean =>
  isTable && !columns.some(({ meaning }) => meaning === REQUIRED[kind][0])

/** The most important likely mistake; false if there is none. */
function warningOf(kind: ImportKind, inspection: Inspection): Html | false {
  const { facts, ambiguous, nameless, taken, leftOut } = inspection
  if (facts.isEncodingDoubtful)
    return warning(
      'The letters may be wrong',
      `The file does not say how they are stored, and they fit more than one encoding. The preview takes ${facts.encoding}.`,
    )
  if (isMissing(kind, inspection)) return warning(REQUIRED[kind][1], 'No column was recognized by its heading or its values.')
  if (ambiguous > 0) {
    const [title, cause] = [
      `${count(ambiguous, 'questions')} can be read in two ways`,
      'The right answer is the number of one option, and the text of another.',
    ]
    const right = inspection.columns.findIndex(({ meaning }) => meaning === 'right')
    return warning(
      title,
      cause,
      right >= 0 &&
        html`<button class="btn btn-sm" name="use" value="${right}=rightByLabel">They are numbers of options</button> <button class="btn btn-sm" name="use" value="${right}=rightByText">They are texts</button>`,
    )
  }
  if (kind === 'candidates' && nameless > taken / 2 && taken > 0) {
    const names = inspection.columns.findIndex(
      ({ meaning, samples }) => meaning === '' && samples.some((text) => /^\p{Lu}\p{L}+,? \p{Lu}/u.test(text)),
    )
    const fix =
      names >= 0 &&
      html`<button class="btn btn-sm" name="use" value="${names}=name">Use “${inspection.columns[names]!.heading || `Column ${names + 1}`}” as the name</button>`
    return warning(
      `${nameless.toLocaleString('en')} of ${count(taken, 'candidates')} have no name`,
      'Their emails greet them without a name.',
      fix,
    )
  }
  return (
    leftOut > taken &&
    warning(
      `${leftOut.toLocaleString('en')} of ${(taken + leftOut).toLocaleString('en')} rows are left out`,
      'Check the columns, or the row of the headings.',
    )
  )
}

const warning = (title: string, cause: string, fix: Html | false = false): Html =>
  html`<div class="alert alert-soft alert-warning flex flex-wrap items-start gap-x-4 sm:items-center" role="status">${icon('triangle-alert', 'size-5 shrink-0')}<div class="min-w-0 grow basis-52"><p class="font-semibold">${title}</p><p>${cause}</p></div>${fix}</div>`

const notes = ({ facts }: Inspection): Html | false =>
  facts.notes.length > 0 && html`<ul class="hint space-y-1">${facts.notes.map((note) => html`<li>${note}</li>`)}</ul>`

type Option = [value: string, label: string]

const menu = (name: string, label: string, value: string, options: Option[]): Html =>
  html`<div><label class="mb-1.5 block text-sm font-medium" for="${name}">${label}</label><select class="select select-sm w-full" id="${name}" name="${name}">${options.map(([option, text]) => html`<option value="${option}" ${option === value && html`selected`}>${text}</option>`)}</select></div>`

const updateButton = html`<button class="btn btn-sm" name="action" value="update">Update the preview</button>`

/** Sheet, encoding, delimiter, and row of the headings. */
function readingPanel({ facts, heads, headingLine, isTable }: Inspection): Html | false {
  const menus = [
    facts.sheets.length > 1 &&
      menu(
        'sheet',
        'Sheet',
        facts.sheet,
        facts.sheets.map((name): Option => [name, name]),
      ),
    facts.encoding &&
      facts.encoding !== 'utf-8' &&
      menu('encoding', 'Encoding of the letters', facts.isEncodingDoubtful ? '' : facts.encoding, [
        ...(facts.isEncodingDoubtful ? [['', 'Please choose'] as Option] : []),
        ...ENCODINGS.map((name): Option => [name, name]),
      ]),
    facts.format === 'csv' &&
      menu('delimiter', 'Cells are separated by', facts.delimiter ?? '', [
        ['', 'nothing'],
        ...Object.entries(DELIMITERS).map(([sign, name]): Option => [sign, name]),
        ...(facts.delimiter && !DELIMITERS[facts.delimiter] ? [[facts.delimiter, facts.delimiter] as Option] : []),
      ]),
    isTable &&
      menu('headingLine', 'Row with the headings', String(headingLine), [
        ['0', 'none'],
        ...heads.map(({ line, text }): Option => [String(line), `${line}: ${text}`]),
      ]),
  ].filter(Boolean)
  return (
    menus.length > 0 &&
    html`<section class="panel" aria-labelledby="reading-heading"><h2 class="mb-4" id="reading-heading">How it is read</h2><div class="space-y-3">${menus}</div>${(!isTable || facts.isEncodingDoubtful) && html`<p class="mt-4">${updateButton}</p>`}</section>`
  )
}

function columnsPanel(kind: ImportKind, { columns }: Inspection): Html {
  const [doubtful, unused] = [columns.filter(({ doubt }) => doubt).length, columns.filter(({ meaning }) => meaning === '').length]
  const facts = [doubtful > 0 && `${doubtful} to check`, unused > 0 && `${unused} not used`].filter(Boolean).join(', ')
  return html`<section class="panel" aria-labelledby="columns-heading">
<div class="mb-4 flex flex-wrap items-center gap-3"><h2 id="columns-heading">Columns in the file</h2><div class="ml-auto"><span class="hint">${facts}</span></div></div>
<ol class="divide-base-300 -mx-5 divide-y">${columns.map((column, i) => columnItem(kind, column, i))}</ol>
<p class="mt-4">${updateButton}</p>
</section>`
}

function columnItem(kind: ImportKind, { heading, samples, meaning, doubt, isRemembered }: InspectedColumn, i: number): Html {
  const id = `column-${i}`
  const name = heading || `Column ${i + 1}`
  const note = doubt
    ? html`${icon('triangle-alert', 'size-4 shrink-0')} Please check: ${doubt}`
    : meaning === ''
      ? html`Column “${name}” is not used.`
      : isRemembered && html`As you chose for an earlier file.`
  const options: Option[] = [...MEANINGS[kind], ['', 'Not used']]
  return html`<li class="${`grid gap-x-4 gap-y-2 px-5 py-3 sm:grid-cols-[minmax(0,1fr)_11rem] ${meaning === '' ? 'bg-base-200' : ''}`}">
<div class="min-w-0"><label class="font-medium" for="${id}" dir="auto">${name}</label>
<ul class="text-base-content/70 mt-0.5 text-sm" aria-label="The first values">${samples.map((text) => html`<li class="truncate" dir="auto">${text === '' ? html`<i>empty</i>` : text}</li>`)}</ul></div>
<div><select class="${`select select-sm w-full ${doubt ? 'select-warning' : ''}`}" id="${id}" name="column" aria-describedby="${`note-${i}`}">${options.map(([option, label]) => html`<option value="${option}" ${option === meaning && html`selected`}>${label}</option>`)}</select></div>
<p class="${`flex items-start gap-1.5 text-sm sm:col-span-2 ${doubt ? 'text-warning font-medium' : 'text-base-content/70'}`}" id="${`note-${i}`}">${note}</p>
</li>`
}

function rowsPanel(kind: ImportKind, { rows, leftOutRows, leftOut, taken }: Inspection): Html {
  const isInRows = new Set(rows.map(({ line }) => line))
  const otherRows = leftOutRows.filter(({ line }) => !isInRows.has(line))
  return html`<section class="panel" aria-labelledby="rows-heading">
<h2 class="mb-4" id="rows-heading">${kind === 'questions' ? 'Questions' : 'People'}</h2>
${rows.length === 0 ? html`<p>There are no rows to show yet.</p>` : html`<ol class="divide-base-300 divide-y">${rows.map((row) => rowItem(kind, row))}</ol>`}
<p class="hint mt-3">The first ${rows.length.toLocaleString('en')} of ${(taken + leftOut).toLocaleString('en')} rows.</p>
${otherRows.length > 0 && html`<h3 class="mt-6 mb-2">Left out: ${leftOut.toLocaleString('en')}</h3><ol class="divide-base-300 divide-y">${otherRows.map((row) => rowItem(kind, row))}</ol>`}
</section>`
}

function rowItem(kind: ImportKind, { line, title, options, details, problem }: InspectedRow): Html {
  const name = title || (kind === 'candidates' ? html`<i>no name</i>` : '')
  return html`<li class="py-3"><p class="flex gap-3"><span class="grow font-medium" dir="auto">${name}</span><span class="hint whitespace-nowrap">Row ${line}</span></p>
${options.length > 0 && html`<ul class="mt-1 text-sm">${options.map(({ text, isRight }) => (isRight ? html`<li class="font-medium" dir="auto">${icon('check', 'inline size-4 text-success')} ${text} <span class="sr-only">(right)</span></li>` : html`<li class="text-base-content/70 pl-5" dir="auto">${text}</li>`))}</ul>`}
${details.length > 0 && html`<p class="text-base-content/70 text-sm" dir="auto">${details.map(([label, value]) => (label === 'email' ? value : `${label}: ${value}`)).join(' · ')}</p>`}
${problem && html`<p class="text-error text-sm">${problem} Left out.</p>`}</li>`
}

function foot(kind: ImportKind, inspection: Inspection, restartPath: string): Html {
  const { taken, leftOut } = inspection
  const missing = inspection.facts.isEncodingDoubtful
    ? 'Choose the encoding of the letters'
    : isMissing(kind, inspection) && REQUIRED[kind][1]
  const isReady = !missing && taken > 0
  const outcome = kind === 'questions' ? 'can be added to the library' : 'are taken over'
  return html`<div class="bg-base-100 border-base-300 sticky bottom-0 -mx-4 flex flex-wrap items-center gap-3 border-t p-4"><p class="grow"><b>${count(taken, kind)}</b> ${outcome}${leftOut > 0 && html`, ${leftOut.toLocaleString('en')} ${leftOut === 1 ? 'row is' : 'rows are'} left out`}.</p>
<a class="btn" href="${restartPath}">Choose another file</a>
${isReady ? html`<button class="btn btn-primary" name="action" value="continue">Continue with ${count(taken, kind)}${icon('arrow-right')}</button>` : html`<p class="font-medium">${missing || 'There is nothing to import.'}</p>`}</div>`
}

import type { Context } from '../../../domain/context.ts'
import type { ImportReportRow } from '../../../domain/library/export-import-rows.ts'
import {
  IMPORT_STATES,
  type ImportRow,
  type ImportState,
  isUndoable,
  type LibraryImport,
  MAX_IMPORTED,
} from '../../../domain/library/imports.ts'
import { MAX_IMPORT_BYTES } from '../../../domain/limits.ts'
import type { ListPage } from '../../../domain/lists/page.ts'
import { type Html, html } from '../../../html/html.ts'
import { icon } from '../../../http/pages/icon.ts'
import type { Column } from '../../../http/sending/send-csv.ts'
import { confirmButton } from '../kit/confirm.ts'
import { choice, type Form, mistakes } from '../kit/forms.ts'
import { formatIssue } from '../kit/issue-messages.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { pager } from '../kit/paging.ts'
import { empty, linkButton, progressBar } from '../kit/parts.ts'
import { badge } from '../kit/status.ts'
import { table } from '../kit/table.ts'

const STATES: Record<ImportState, string> = {
  ready: 'will be imported',
  losses: 'will be imported in part',
  there: 'duplicate',
  refused: 'can’t import',
  taken: 'imported',
  undone: 'undone',
}

/** Report on an import, as CSV. */
export const reportColumns: Column<ImportReportRow>[] = [
  ['line', ({ line }) => line],
  ['question', ({ name }) => name],
  ['result', ({ state }) => STATES[state as ImportState] ?? state],
  ['category', ({ category }) => category],
  ['notes', ({ notes }) => notes.join(' ')],
]

/** @param assessmentId assessment to add the questions to; empty if none. */
export function newImportPage(form: Form, ctx: Context, assessmentId: string): Page {
  const wrong = form.issues.filter(({ field }) => field === 'file').map(formatIssue)
  const isWrong = wrong.length > 0
  return {
    title: 'Import questions',
    trail: [['Questions', pathOf(ctx, 'questions')]],
    body: html`${mistakes(form)}<div class="grid items-start gap-6 lg:grid-cols-2">${panel(
      'file-form',
      'Questions from a file',
      html`<p class="mb-4">You check the columns of a spreadsheet, and get a preview of each question. Nothing is imported until you confirm, and you can undo the import for a day.</p>
<form method="post" action="${pathOf(ctx, 'questions/imports')}" enctype="multipart/form-data">
${assessmentId && html`<input type="hidden" name="assessment" value="${assessmentId}">`}${onceField()}
<div class="field"><label class="mb-1.5 block text-sm font-medium" for="file">File</label>
<p class="hint mb-1.5" id="file-hint">A spreadsheet (.xlsx, .csv, or .tsv), Moodle XML, GIFT, or Aiken (.txt), or QTI 2.1 (.zip or .xml); up to ${MAX_IMPORT_BYTES / 1024 / 1024} MB and ${MAX_IMPORTED.toLocaleString('en')} questions.</p>
<input class="file-input w-full" id="file" name="file" type="file" required accept=".csv,.tsv,.xlsx,.txt,.gift,.xml,.zip" aria-describedby="file-hint${isWrong && ' file-mistake'}" aria-invalid="${isWrong ? 'true' : 'false'}">
${isWrong && html`<p class="mistake" id="file-mistake">${wrong.join(' ')}</p>`}</div>
<button class="btn btn-primary">${icon('upload')}Read the file</button>
</form>`,
    )}${panel(
      'template',
      'Spreadsheet format',
      html`<p class="mb-3">The first row names the columns. Only <code>text</code> is required. <code>kind</code> is one choice, several choices, true/false, number, short text, text, audio or video. <code>right</code> names the right options by their letters (<code>B;D</code>), or what is accepted (<code>Paris; City of Light 50%</code>, <code>3.14 ± 0.01</code>, <code>3..4</code>). Options stand in the columns A to T, a category as <code>Math / Algebra</code>.</p>
<div class="flex flex-wrap gap-2"><a class="btn btn-sm" href="${pathOf(ctx, 'questions/template.xlsx')}">${icon('download')}Template for Excel</a><a class="btn btn-sm" href="${pathOf(ctx, 'questions/template.csv')}">${icon('download')}Template as CSV</a></div>`,
    )}</div>`,
  }
}

type Facts = {
  ctx: Context
  libraryImport: LibraryImport & { counts: Record<ImportState, number> }
  list: ListPage<ImportRow>
  values: URLSearchParams
}

/** True while questions are being imported: the page then reloads by itself. */
export const isRunning = ({ startedAt, finishedAt }: LibraryImport): boolean => startedAt !== null && finishedAt === null

/** Preview, or outcome, of each question. */
export function importPage(form: Form, { ctx, libraryImport, list, values }: Facts): Page {
  const path = pathOf(ctx, `questions/imports/${libraryImport.id}`)
  return {
    title: libraryImport.fileName || 'Question file',
    trail: [
      ['Questions', pathOf(ctx, 'questions')],
      ['Import', pathOf(ctx, 'questions/imports/new')],
    ],
    body: html`${mistakes(form)}${panel('sum', headingOf(libraryImport), nextActions(ctx, libraryImport, path, values.get('assessment') ?? ''))}
<section class="panel mt-6" aria-labelledby="rows-heading">
<h2 class="mb-4" id="rows-heading">Questions</h2>
<form method="get" action="${path}" class="filters">
${values.get('assessment') && html`<input type="hidden" name="assessment" value="${values.get('assessment')}">`}
${choice({ values, issues: [] }, { name: 'state', label: 'Show', options: [['', 'All'], ...IMPORT_STATES.map((state): [string, string] => [state, STATES[state]])] })}
<button class="btn">Apply</button>
</form>
${list.items.length === 0 ? empty('list-checks', 'No questions match.') : rows(ctx, list.items)}
${pager(path, values, list, ['question', 'questions'])}
</section>`,
  }
}

function headingOf({ startedAt, finishedAt, revertedAt }: LibraryImport): string {
  if (revertedAt) return 'Import undone'
  if (finishedAt) return 'Imported'
  return startedAt ? 'Importing' : 'Preview'
}

function nextActions(ctx: Context, libraryImport: Facts['libraryImport'], path: string, assessmentId: string): Html {
  const { counts, startedAt, unusedColumns } = libraryImport
  const toTake = counts.ready + counts.losses
  const query = assessmentId && `?${new URLSearchParams({ assessment: assessmentId })}`
  return html`<dl class="details">${IMPORT_STATES.map((state) => counts[state] > 0 && html`<dt class="first-letter:uppercase">${STATES[state]}</dt><dd>${counts[state].toLocaleString('en')}</dd>\n`)}</dl>
${unusedColumns.length > 0 && html`<p class="mt-4">Unused columns: <bdi>${unusedColumns.join(', ')}</bdi>.</p>`}
${isRunning(libraryImport) && progressBar(counts.taken, counts.taken + toTake)}
<div class="mt-4 flex flex-wrap gap-2">${libraryImport.finishedAt !== null && libraryImport.revertedAt === null && assessmentId && linkButton(`${pathOf(ctx, `assessments/${assessmentId}`)}/library?import=${libraryImport.id}`, 'Add to the assessment', 'plus', 'main')}${
    startedAt === null &&
    (toTake > 0
      ? html`<form method="post" action="${`${path}/start${query}`}"><button class="btn btn-primary">${icon('check')}Import ${toTake === 1 ? 'the question' : `${toTake.toLocaleString('en')} questions`}</button></form>`
      : html`<p>There is nothing to import.</p>`)
  }${
    isUndoable(libraryImport, ctx.deps.clock()) &&
    confirmButton({
      label: 'Undo',
      question: 'Undo this import?',
      consequence:
        'Its questions are removed from the library. Questions that an assessment uses, or that have a newer version, stay.',
      address: `${path}/undo`,
    })
  }<form method="post" action="${path}/report"><button class="btn">${icon('download')}Download the report</button></form></div>`
}

const rows = (ctx: Context, items: ImportRow[]): Html =>
  table(
    'rows-heading',
    ['Question', 'Line', 'Result', 'Category', 'Notes'],
    items.map(({ name, line, state, category, notes, libraryQuestionId }) => [
      libraryQuestionId
        ? html`<a href="${pathOf(ctx, `questions/${libraryQuestionId}`)}" dir="auto">${name}</a>`
        : html`<span dir="auto">${name}</span>`,
      line,
      badge(STATES[state as ImportState] ?? state),
      category,
      notes.length > 0 && html`<ul>${notes.map((note) => html`<li>${note}</li>`)}</ul>`,
    ]),
  )

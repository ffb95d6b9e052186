import type { Assessment } from '../../../domain/assessments/assessments.ts'
import type { Context } from '../../../domain/context.ts'
import type { ListedLibraryQuestion } from '../../../domain/library/list-library.ts'
import { html } from '../../../html/html.ts'
import { icon } from '../../../http/pages/icon.ts'
import { labelKind } from '../../../kinds/labels.ts'
import { type Form, field, mistakes } from '../kit/forms.ts'
import { type Page, pathOf } from '../kit/layout.ts'
import { filterLine } from '../kit/paging.ts'
import { empty, linkButton } from '../kit/parts.ts'
import { table } from '../kit/table.ts'

/** @property added questions that the assessment already has. */
type Facts = {
  ctx: Context
  assessment: Assessment
  matches: { items: ListedLibraryQuestion[]; hasOlder: boolean }
  added: Set<string>
}

/** Selects library questions to add to an assessment. */
export function addToAssessmentPage(form: Form, { ctx, assessment, matches, added }: Facts): Page {
  const path = pathOf(ctx, `assessments/${assessment.id}`)
  const { values } = form
  const chosen = new Set(values.getAll('questions'))
  const query = new URLSearchParams(
    ['search', 'import'].flatMap((name): [string, string][] => (values.get(name) ? [[name, values.get(name)!]] : [])),
  )
  const importField = values.get('import') && html`<input type="hidden" name="import" value="${values.get('import')}">`
  return {
    title: 'Add from library',
    trail: [
      ['Assessments', pathOf(ctx, 'assessments')],
      [assessment.name, path],
    ],
    actions: linkButton(pathOf(ctx, `questions/imports/new?assessment=${assessment.id}`), 'Import questions', 'upload'),
    body: html`${mistakes(form)}<section class="panel" id="questions" aria-labelledby="library-heading">
<h2 class="sr-only" id="library-heading">Questions of the library</h2>
${filterLine(`${path}/library`, query, html`${importField}${field({ values: query, issues: [] }, { name: 'search', label: 'Search', type: 'search', optional: true })}`)}
${
  matches.items.length === 0
    ? empty(
        'list-checks',
        query.size > 0 ? 'No questions match.' : 'The library is empty. Import questions, or save some from an assessment.',
      )
    : html`<form method="post" action="${`${path}/library`}">
${[...query].map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">\n`)}
${table(
  'library-heading',
  ['Question', 'Answer format', 'Category'],
  matches.items.map(({ id, name, responseType, category }) => [
    added.has(id)
      ? html`<span class="text-base-content/70" dir="auto">${name} (in this assessment)</span>`
      : html`<label class="flex items-center gap-3"><input type="checkbox" class="checkbox checkbox-sm" name="questions" value="${id}" ${chosen.has(id) && html`checked`}> <span dir="auto">${name}</span></label>`,
    labelKind(responseType),
    category,
  ]),
)}
${matches.hasOlder && html`<p class="hint my-3">Only the newest are shown. Search for others.</p>`}
<button class="btn btn-primary mt-4">${icon('plus')}Add the ticked questions</button>
</form>`
}
</section>`,
  }
}

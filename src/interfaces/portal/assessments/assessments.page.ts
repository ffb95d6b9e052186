import type { ListedAssessment } from '../../../domain/assessments/assessments.ts'
import { may } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import type { ListPage } from '../../../domain/lists/page.ts'
import { type Html, html } from '../../../html/html.ts'
import { labelLanguage, timeAgo } from '../kit/formatting.ts'
import { mistakes, readFields } from '../kit/forms.ts'
import { type Page, pathOf } from '../kit/layout.ts'
import { type FilteredList, noRows, sizedPager } from '../kit/paging.ts'
import { empty, linkButton, tabs } from '../kit/parts.ts'
import { table } from '../kit/table.ts'

/** Notices by the `done` parameter. */
export const NOTICES = new Map([
  ['created', 'The assessment is created. Now add its questions.'],
  ['saved', 'The assessment is saved.'],
  ['duplicated', 'The assessment is duplicated. This is the copy.'],
  ['deleted', 'The assessment is deleted.'],
  ['from-template', 'This is your assessment. Change whatever you like, then invite candidates.'],
  ['save-template', 'Your organization can start from this assessment now: see “Start from a template”.'],
  ['remove-template', 'The assessment is no longer a template.'],
  ['archived', 'The assessment is archived: nobody can be invited to it. Existing invites and results are not affected.'],
  ['unarchived', 'The assessment is active again.'],
  ['question-added', 'The question is added.'],
  ['question-saved', 'The question is saved.'],
  ['question-moved', 'The question is moved.'],
  ['question-duplicated', 'The question is duplicated. This is the copy.'],
  ['question-deleted', 'The question is deleted.'],
  ['section-added', 'The section is added. Move questions to it by dragging them, or by their menus.'],
  ['section-saved', 'The section is saved.'],
  ['section-moved', 'The section is moved.'],
  ['section-deleted', 'The section is deleted. Its questions are still here.'],
  ['pool-added', 'The pool is added.'],
  ['pool-saved', 'The pool is saved.'],
  ['pool-deleted', 'The pool is deleted. Every candidate gets its questions.'],
])

export const assessmentsPage = (
  { form, list }: FilteredList<ListedAssessment>,
  { ctx, archived }: { ctx: Context; archived: boolean },
): Page => {
  const path = pathOf(ctx, 'assessments')
  const { search, skill, category, done } = readFields(form.values, 'search', 'skill', 'category', 'done')
  const filters = Object.entries({ search, skill, category }).filter(([, value]) => value !== '')
  const query = new URLSearchParams({ ...(archived && { shown: 'archived' }), ...Object.fromEntries(filters) })
  const mayWrite = may(ctx, 'write_assessments')
  return {
    title: 'Assessments',
    notice: NOTICES.get(done),
    actions:
      mayWrite &&
      html`${linkButton(`${path}/templates`, 'Start from a template', 'files')}${linkButton(`${path}/new`, 'New assessment', 'plus', 'main')}`,
    tabs: tabs('Assessments', [
      { label: 'Active', address: path, isCurrent: !archived },
      { label: 'Archived', address: `${path}?shown=archived`, isCurrent: archived },
    ]),
    body: html`${mistakes(form)}<section class="panel" aria-labelledby="list-heading">
<h2 class="mb-4" id="list-heading">${headingOf({ search, skill, category }, archived)}</h2>
<form class="mb-4 flex flex-wrap items-center gap-2" role="search" action="${path}">
${[...query].map(([name, value]) => name !== 'search' && html`<input type="hidden" name="${name}" value="${value}">`)}
<label class="sr-only" for="search">Name</label>
<input class="input max-w-sm grow" placeholder="Name" id="search" name="search" type="search" value="${search}" autocomplete="off">
<button class="btn">Apply</button>
${filters.length > 0 && html`<a class="btn btn-ghost" href="${archived ? `${path}?shown=archived` : path}">Reset</a>`}
</form>
${list.items.length > 0 ? assessmentTable(ctx, list) : emptyList()}
${sizedPager(path, query, list, ['assessment', 'assessments'])}
</section>`,
  }

  function emptyList(): Html {
    if (filters.length > 0 || list.total > 0) return noRows('No assessments match.', path, new URLSearchParams(filters))
    if (archived) return empty('archive', 'Nothing is archived. Archive assessments that you no longer use: their results stay.')
    return empty(
      'clipboard-list',
      'No assessments yet. Start from a template, or create one and add its questions.',
      mayWrite &&
        html`<div class="flex flex-wrap justify-center gap-2">${linkButton(`${path}/templates`, 'Start from a template', 'files')}${linkButton(`${path}/new`, 'Create an assessment', 'plus')}</div>`,
    )
  }
}

const headingOf = ({ search, skill, category }: Record<'search' | 'skill' | 'category', string>, archived: boolean): string =>
  [
    archived ? 'Archived assessments' : 'Assessments',
    search && `with “${search}”`,
    skill && `for the skill “${skill}”`,
    category && `in the category “${category}”`,
  ]
    .filter((part) => part !== '')
    .join(' ')

const assessmentTable = (ctx: Context, { items }: ListPage<ListedAssessment>): Html =>
  table(
    'list-heading',
    ['Name', 'Questions', 'Points', 'Languages', 'Invites', 'Changed'],
    items.map((assessment) => [
      html`<a href="${pathOf(ctx, `assessments/${assessment.id}`)}">${assessment.name}</a>`,
      assessment.questionCount,
      assessment.totalPoints,
      assessment.languageCodes.map(labelLanguage).join(', '),
      assessment.inviteCount,
      timeAgo(ctx, new Date(assessment.updatedAt)),
    ]),
  )

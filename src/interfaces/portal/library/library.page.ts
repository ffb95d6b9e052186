import { may } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import type { LibraryCategory } from '../../../domain/library/categories.ts'
import type { LibraryFilter, ListedLibraryQuestion } from '../../../domain/library/list-library.ts'
import { type Html, html } from '../../../html/html.ts'
import { LABELED_RESPONSE_TYPES, labelKind } from '../../../kinds/labels.ts'
import { timeAgo } from '../kit/formatting.ts'
import { checkbox, choice, type Form, field, mistakes } from '../kit/forms.ts'
import { type Page, pathOf } from '../kit/layout.ts'
import { noRows } from '../kit/paging.ts'
import { empty, linkButton, tabs } from '../kit/parts.ts'
import { table } from '../kit/table.ts'

type Facts = {
  ctx: Context
  matches: { items: ListedLibraryQuestion[]; hasOlder: boolean }
  filter: LibraryFilter
  categories: LibraryCategory[]
  query: URLSearchParams
  notice: string | undefined
}

export function libraryPage(form: Form, { ctx, matches, filter, categories, query, notice }: Facts): Page {
  const path = pathOf(ctx, 'questions')
  const isRetired = filter.isRetired === true
  const newest = new URLSearchParams(query)
  newest.delete('before')
  const older = new URLSearchParams(newest)
  older.set('before', matches.items.at(-1)?.id ?? '')
  return {
    title: 'Questions',
    subtitle: 'Your question library. Add its questions to any assessment. Each question has versions and one answer key.',
    notice,
    actions: may(ctx, 'write_assessments') && linkButton(`${path}/imports/new`, 'Import', 'upload', 'main'),
    tabs: tabs('Questions', [
      { label: 'Active', address: path, isCurrent: !isRetired },
      { label: 'Archived', address: `${path}?shown=retired`, isCurrent: isRetired },
    ]),
    body: html`${mistakes(form)}<section class="panel" aria-labelledby="list-heading">
<h2 class="mb-4" id="list-heading">${isRetired ? 'Archived questions' : 'Questions'}</h2>
<form class="filters" method="get" role="search" action="${path}">
${isRetired && html`<input type="hidden" name="shown" value="retired">`}
${field(form, { name: 'search', label: 'Search', type: 'search', optional: true })}
${choice(form, { name: 'category', label: 'Category', options: [['', 'Every category'], ...categories.map(({ id, path }): [string, string] => [id, path])] })}
${choice(form, { name: 'kind', label: 'Answer format', options: [['', 'Every format'], ...LABELED_RESPONSE_TYPES.map((kind): [string, string] => [kind, labelKind(kind)])] })}
${checkbox(form, { name: 'unused', label: 'In no assessment' })}
<button class="btn">Apply</button>
</form>
${matches.items.length > 0 ? rows(ctx, matches.items) : emptyList()}
${may(ctx, 'write_assessments') && matches.items.length > 0 && html`<p class="mt-4">${linkButton(newest.size > 0 ? `${path}/export?${newest}` : `${path}/export`, 'Export these questions', 'download', 'small')}</p>`}
${(query.has('before') || matches.hasOlder) && html`<nav class="mt-4 flex gap-2" aria-label="Pages">${query.has('before') && linkButton(`${path}?${newest}`, 'Newest', undefined, 'small')}${matches.hasOlder && linkButton(`${path}?${older}`, 'Older', undefined, 'small')}</nav>`}
</section>`,
  }

  function emptyList(): Html {
    const isNarrowed = ['search', 'category', 'kind', 'unused', 'before'].some((name) => query.get(name))
    if (isNarrowed) return noRows('No questions match.', path, query)
    if (isRetired)
      return empty(
        'archive',
        'No archived questions. An archived question can’t be added to assessments any more, and stays in those that have it.',
      )
    const hint = 'No questions yet. Import some, or save one from the page of a question in an assessment.'
    return empty(
      'list-checks',
      hint,
      may(ctx, 'write_assessments') && linkButton(pathOf(ctx, 'assessments'), 'Go to the assessments'),
    )
  }
}

const rows = (ctx: Context, items: ListedLibraryQuestion[]): Html =>
  table(
    'list-heading',
    ['Question', 'Answer format', 'Category', 'Version', 'Assessments', 'Changed'],
    items.map((question) => [
      html`<a href="${pathOf(ctx, `questions/${question.id}`)}" dir="auto">${question.name}</a>`,
      labelKind(question.responseType),
      question.category,
      question.number,
      question.uses,
      timeAgo(ctx, question.updatedAt),
    ]),
  )

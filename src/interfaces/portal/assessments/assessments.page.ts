import type { ListedAssessment } from '../../../domain/assessments/assessments.ts'
import { may } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import type { ListPage } from '../../../domain/lists/page.ts'
import { type Html, html } from '../../../html/html.ts'
import { labelLanguage, timeAgo } from '../kit/formatting.ts'
import { type Form, mistakes } from '../kit/forms.ts'
import { type Page, pathOf } from '../kit/layout.ts'
import { noRows, sizedPager } from '../kit/paging.ts'
import { empty, linkButton, tabs } from '../kit/parts.ts'
import { table } from '../kit/table.ts'

/** Notices by the `done` parameter. */
export const NOTICES = new Map([
  ['created', 'The assessment is created. Now add its questions.'],
  ['saved', 'The assessment is saved.'],
  ['duplicated', 'The assessment is duplicated. This is the copy.'],
  ['deleted', 'The assessment is deleted.'],
  ['archived', 'The assessment is archived: nobody can be invited to it. Existing invites and results are not affected.'],
  ['unarchived', 'The assessment is active again.'],
  ['question-added', 'The question is added.'],
  ['question-saved', 'The question is saved.'],
  ['question-moved', 'The question is moved.'],
  ['question-duplicated', 'The question is duplicated. This is the copy.'],
  ['question-deleted', 'The question is deleted.'],
])

type ListFacts = { ctx: Context; listing: ListPage<ListedAssessment>; search: string; archived: boolean; done: string }

export function assessmentsPage(form: Form, { ctx, listing, search, archived, done }: ListFacts): Page {
  const path = pathOf(ctx, 'assessments')
  const query = new URLSearchParams({ ...(archived && { shown: 'archived' }), ...(search && { search }) })
  const mayWrite = may(ctx, 'write_assessments')
  return {
    title: 'Assessments',
    notice: NOTICES.get(done),
    actions: mayWrite && linkButton(`${path}/new`, 'New assessment', 'plus', 'main'),
    tabs: tabs('Assessments', [
      { label: 'Active', address: path, isCurrent: !archived },
      { label: 'Archived', address: `${path}?shown=archived`, isCurrent: archived },
    ]),
    body: html`${mistakes(form)}<section class="panel" aria-labelledby="list-heading">
<h2 class="mb-4" id="list-heading">${headingOf(search, archived)}</h2>
<form class="mb-4 flex flex-wrap items-center gap-2" role="search" action="${path}">
${archived && html`<input type="hidden" name="shown" value="archived">`}
<label class="sr-only" for="search">Name</label>
<input class="input max-w-sm grow" placeholder="Name" id="search" name="search" type="search" value="${search}" autocomplete="off">
<button class="btn">Apply</button>
</form>
${listing.items.length > 0 ? assessmentTable(ctx, listing) : none()}
${sizedPager(path, query, listing, ['assessment', 'assessments'])}
</section>`,
  }

  function none(): Html {
    if (search || listing.total > 0) return noRows('No assessments match.', path, new URLSearchParams({ search }))
    if (archived) return empty('archive', 'Nothing is archived. Archive assessments that you no longer use: their results stay.')
    return empty(
      'clipboard-list',
      'No assessments yet. Create your first one, then add its questions.',
      mayWrite && linkButton(`${path}/new`, 'Create an assessment', 'plus'),
    )
  }
}

const headingOf = (search: string, archived: boolean): string => {
  const which = archived ? 'Archived assessments' : 'Assessments'
  return search ? `${which} with “${search}”` : which
}

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

import { candidateName } from '../../../domain/assessments/blind-grading.ts'
import { may } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import type { ListPage } from '../../../domain/lists/page.ts'
import { formatPosition } from '../../../domain/submissions/grading/format-note.ts'
import type { TranscriptHit } from '../../../domain/submissions/grading/search-transcripts.ts'
import { type Html, html } from '../../../html/html.ts'
import { emptyForm, type Form, field, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { sizedPager } from '../kit/paging.ts'
import { empty } from '../kit/parts.ts'
import { MADE_BY_MACHINE } from '../kit/segment-fields.ts'

type Facts = { ctx: Context; assessment: { id: string; name: string }; list: ListPage<TranscriptHit> }

const addressOf = (ctx: Context, assessmentId: string): string => pathOf(ctx, `grading/assessments/${assessmentId}/search`)

/** Form that searches the transcripts of an assessment. */
export const searchForm = (ctx: Context, assessmentId: string, form: Form = emptyForm): Html =>
  html`<form class="filters" method="get" action="${addressOf(ctx, assessmentId)}" role="search">
${field(form, { name: 'words', label: 'Words said in recorded answers', type: 'search' })}
<button class="btn">Search</button>
</form>`

export function searchPage(form: Form, { ctx, assessment, list }: Facts): Page {
  const isAsked = (form.values.get('words') ?? '').trim() !== ''
  return {
    title: `Search the answers of ${assessment.name}`,
    heading: 'Search answers',
    subtitle: assessment.name,
    trail: [['Grading', `${pathOf(ctx, 'grading')}?${new URLSearchParams({ assessment: assessment.id })}`]],
    body: html`${mistakes(form)}${panel(
      'search',
      'Transcripts',
      html`${searchForm(ctx, assessment.id, form)}
${isAsked ? hits(ctx, list) : html`<p class="hint">Finds the recorded answers in which all the words are said.</p>`}
${sizedPager(addressOf(ctx, assessment.id), form.values, list, ['answer', 'answers'])}`,
    )}`,
  }
}

const hits = (ctx: Context, { items }: ListPage<TranscriptHit>): Html =>
  items.length === 0
    ? empty('search', 'No answers match.')
    : html`<p class="facts mb-3">${MADE_BY_MACHINE}</p>
<ol class="space-y-4">${items.map((hit) => html`<li>${oneHit(ctx, hit)}</li>\n`)}</ol>`

function oneHit(ctx: Context, { submission, questionNumber, language, lines }: TranscriptHit): Html {
  const { id, inviteId } = submission
  const [page, place] = may(ctx, 'grade')
    ? [pathOf(ctx, `grading/${id}`), `#question-${questionNumber}`]
    : [pathOf(ctx, `invites/${inviteId}/submission`), `#question-${questionNumber}-heading`]
  const addressAt = (startMs: number) => `${page}?at=${startMs / 1_000}${place}`
  return html`<h3 class="mt-0"><a href="${`${page}${place}`}">${candidateName(ctx, submission)}, question ${questionNumber}</a></h3>
<ul class="text-sm">${lines.map(({ startMs, text }) => html`<li class="flex gap-3 py-1">${startMs !== null && html`<a class="shrink-0 tabular-nums" href="${addressAt(startMs)}">${formatPosition(startMs)}</a>`}<span lang="${language}" dir="auto">${text}</span></li>\n`)}</ul>`
}

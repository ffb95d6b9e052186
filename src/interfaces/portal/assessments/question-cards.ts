import type { ListedQuestion } from '../../../domain/assessments/questions.ts'
import type { ListPage } from '../../../domain/lists/page.ts'
import { type Html, html } from '../../../html/html.ts'
import { formatCount, formatDuration, plainQuestionText } from '../../../http/pages/candidate-view.ts'
import { icon } from '../../../http/pages/icon.ts'
import type { QuestionType } from '../../../kinds/author.ts'
import { questionTypes } from '../../../kinds/authors.ts'
import { confirmButton } from '../kit/confirm.ts'
import { onceField } from '../kit/once.ts'
import { empty } from '../kit/parts.ts'
import { responseTypeLabel } from './kind-form.ts'

/** Most characters of a question's text on its card. */
const EXCERPT = 140

/**
 * One page of an assessment's questions with their actions. Scripts add reordering by dragging and by keys, see
 * browser/assessments/order.ts; without them the menus do it.
 *
 * @param path the assessment's address. @param currentId the question whose form is open.
 */
export function questionCards(path: string, questions: ListPage<ListedQuestion>, currentId?: string): Html {
  const { items, total, page, pageSize } = questions
  if (items.length === 0) return empty('list-checks', total > 0 ? 'No questions here.' : 'No questions yet. Add the first one.')
  const before = (page - 1) * pageSize
  return html`<p class="sr-only" id="order-help">Drag it, or press the up and down arrow keys.</p>
<ol class="space-y-3" data-order="${path}/order" aria-labelledby="questions-heading">
${items.map((question, i) => card(path, question, { place: before + i + 1, total, page, isCurrent: question.id === currentId }))}</ol>
<p class="hint mt-2 min-h-5" role="status" data-order-status></p>`
}

/** Cards for roles that can't edit questions. */
export function readCards({ items, total, page, pageSize }: ListPage<ListedQuestion>): Html {
  if (items.length === 0) return empty('list-checks', total > 0 ? 'No questions here.' : 'No questions yet.')
  return html`<ol class="space-y-3" aria-labelledby="questions-heading">
${items.map((question, i) => html`<li class="panel flex items-start gap-3 p-3">${questionSummary(question, html`<span class="font-medium">${(page - 1) * pageSize + i + 1}. ${text(question)}</span>`)}</li>\n`)}</ol>`
}

function questionSummary(question: ListedQuestion, title: Html): Html {
  const { points, timeLimit, preparationTime, responseType } = question
  const way = responseTypeLabel(responseType)
  return html`<span class="bg-primary/10 text-primary grid size-8 shrink-0 place-items-center rounded-field">${icon(way.icon)}</span>
<div class="min-w-0 grow">${title}
<p class="quiet mt-1 flex flex-wrap gap-x-3 text-sm"><span>${way.label}</span><span>${formatCount(points, 'point')}</span>${preparationTime > 0 && html`<span>${formatDuration(preparationTime)} to prepare</span>`}${timeLimit > 0 && html`<span>${formatDuration(timeLimit)}</span>`}</p></div>`
}

const text = (question: ListedQuestion): Html =>
  html`<span lang="${question.sourceLanguage ?? ''}" dir="auto" data-excerpt>${excerpt(question) || 'No text'}</span>`

type Place = { place: number; total: number; page: number; isCurrent: boolean }

function card(path: string, question: ListedQuestion, { place, total, page, isCurrent }: Place): Html {
  const { id } = question
  const address = `${path}/questions/${id}${page > 1 ? `?page=${page}` : ''}`
  return html`<li class="panel relative flex items-start gap-2 p-3 sm:gap-3 ${isCurrent && 'ring-primary ring-2'}" id="${`question-${id}`}" data-question="${id}">
<button type="button" class="btn btn-ghost btn-square btn-sm invisible z-10 cursor-grab touch-none" data-handle aria-describedby="order-help">${icon('grip-vertical')}<span class="sr-only">Move question <span data-place>${place}</span></span></button>
${questionSummary(question, html`<a class="font-medium after:absolute after:inset-0 after:rounded-box" href="${address}" aria-current="${isCurrent && 'page'}"><span data-place>${place}</span>. ${text(question)}</a>`)}
<details class="dropdown dropdown-end"><summary class="btn btn-ghost btn-square btn-sm z-10">${icon('ellipsis')}<span class="sr-only">More for question <span data-place>${place}</span></span></summary>
<div class="dropdown-content bg-base-100 border-base-300 rounded-box z-20 mt-1 grid w-48 gap-1 border p-2 shadow-lg">
${move(path, question, { place: place - 1, isPossible: place > 1, label: `Move up question ${place}`, text: 'up' })}
${move(path, question, { place: place + 1, isPossible: place < total, label: `Move down question ${place}`, text: 'down' })}
<form method="post" action="${path}/questions/${id}/duplicate">${onceField()}<button class="btn btn-ghost btn-sm w-full justify-start">${icon('files')}Duplicate</button></form>
${confirmButton({ label: 'Delete', question: `Delete question ${place}?`, consequence: `“${excerpt(question) || 'No text'}” is deleted. This can’t be undone.`, address: `${path}/questions/${id}/delete` })}
</div></details>
</li>
`
}

function excerpt(question: ListedQuestion): string {
  const text = plainQuestionText(question)
  const characters = [...text]
  return characters.length > EXCERPT ? `${characters.slice(0, EXCERPT).join('')}…` : text
}

type Move = { place: number; isPossible: boolean; label: string; text: 'up' | 'down' }

const move = (
  path: string,
  { id, order }: Pick<ListedQuestion, 'id' | 'order'>,
  { place, isPossible, label, text }: Move,
): Html =>
  html`<form data-move="${text}" method="post" action="${path}/questions/${id}/move">
<input type="hidden" name="order" value="${order}">
<input type="hidden" name="place" value="${place}">
<button class="btn btn-ghost btn-sm w-full justify-start" aria-label="${label}" ${!isPossible && html`disabled`}>${icon(text === 'up' ? 'arrow-up' : 'arrow-down')}Move ${text}</button>
</form>`

/** @param refusal reason why questions that score themselves can't be asked. */
export const addQuestionBox = (path: string, refusal: string | undefined): Html =>
  html`<div class="border-base-300 rounded-box mt-3 border border-dashed p-4" id="add">
<h3 class="font-medium">Add a question</h3>
<h4 class="quiet mt-3 mb-1 text-sm">Auto-scored</h4>
${refusal ? html`<p class="hint">${refusal}</p>` : offerList(path, questionTypes.scored)}
<h4 class="quiet mt-3 mb-1 text-sm">Graded by people</h4>
${offerList(path, questionTypes.graded)}
</div>`

const offerList = (path: string, offered: readonly QuestionType[]): Html =>
  html`<ul class="grid gap-1 sm:grid-cols-2">${offered.map(
    ({ word, preset, label, description, icon: name }) =>
      html`<li class="hover:bg-base-200 rounded-field relative flex items-start gap-3 p-2"><span class="bg-primary/10 text-primary grid size-8 shrink-0 place-items-center rounded-field">${icon(name)}</span><div class="text-sm"><a class="font-medium after:absolute after:inset-0" href="${path}/questions/new?answer=${word}${preset && `&preset=${preset}`}">${label}</a><p class="quiet">${description}</p></div></li>\n`,
  )}</ul>`

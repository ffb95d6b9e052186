import { SECTION, toList } from '../../../domain/assessments/order-questions.ts'
import type { ListedQuestion } from '../../../domain/assessments/questions.ts'
import type { AssessmentSection, Structure } from '../../../domain/assessments/structure.ts'
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
export function questionCards(path: string, { questions, structure }: StructuredQuestions, currentId?: string): Html {
  const { items, total, page, pageSize } = questions
  if (items.length === 0) return empty('list-checks', total > 0 ? 'No questions here.' : 'No questions yet. Add the first one.')
  const before = (page - 1) * pageSize
  return html`<p class="sr-only" id="order-help">Drag it, or press the up and down arrow keys.</p>
<ol class="space-y-3" data-order="${path}/order" aria-labelledby="questions-heading">
${entriesOf({ questions, structure }).map((entry) => {
  if ('section' in entry) return sectionHeading(path, structure, entry.section)
  const place = before + items.indexOf(entry.question) + 1
  return card(path, entry.question, { place, total, page, isCurrent: entry.question.id === currentId, structure })
})}</ol>
<p class="hint mt-2 min-h-5" role="status" data-order-status></p>`
}

/** Cards for roles that can't edit questions. */
export function readCards({ questions, structure }: StructuredQuestions): Html {
  const { items, total, page, pageSize } = questions
  if (items.length === 0) return empty('list-checks', total > 0 ? 'No questions here.' : 'No questions yet.')
  return html`<ol class="space-y-3" aria-labelledby="questions-heading">
${entriesOf({ questions, structure }).map((entry) =>
  'section' in entry
    ? html`<li class="pt-3">${sectionTitle(structure, entry.section)}</li>\n`
    : html`<li class="panel flex items-start gap-3 p-3">${questionSummary(entry.question, html`<span class="font-medium">${(page - 1) * pageSize + items.indexOf(entry.question) + 1}. ${text(entry.question)}</span>`, structure)}</li>\n`,
)}</ol>`
}

/** One page of the questions. */
type StructuredQuestions = { questions: ListPage<ListedQuestion>; structure: Structure }
type Entry = { question: ListedQuestion } | { section: AssessmentSection }

/** The questions of a page with the headings of their sections. An empty section is behind the last question before it. */
function entriesOf({ questions: { items }, structure }: StructuredQuestions): Entry[] {
  const list = toList(structure)
  const byId = new Map<string, Entry>([
    ...items.map((question): [string, Entry] => [question.id, { question }]),
    ...structure.sections.map((section): [string, Entry] => [SECTION + section.id, { section }]),
  ])
  const isHeading = (entry: string | undefined) => entry?.startsWith(SECTION) === true
  const places = items.map(({ id }) => list.indexOf(id))
  let from = Math.min(...places)
  while (isHeading(list[from - 1])) from--
  let to = Math.max(...places) + 1
  if (list.slice(to).every(isHeading)) to = list.length
  return list.slice(from, to).flatMap((entry) => byId.get(entry) ?? [])
}

function sectionTitle({ questions, sections }: Structure, section: AssessmentSection): Html {
  const count = questions.filter(({ sectionId }) => sectionId === section.id).length
  const { name, timeLimit, navigation, shuffle } = section
  const facts = [timeLimit > 0 && formatDuration(timeLimit), navigation === 'free' && 'back and forth', shuffle && 'random order']
  return html`<h3 class="font-medium"><span class="quiet">Section ${sections.indexOf(section) + 1}:</span> <bdi>${name}</bdi></h3>
<p class="quiet text-sm"><span data-count>${formatCount(count, 'question')}</span>${facts.map((fact) => fact !== false && ` · ${fact}`)}</p>`
}

function sectionHeading(path: string, structure: Structure, section: AssessmentSection): Html {
  const { sections } = structure
  const sectionPath = `${path}/sections/${section.id}`
  const moveButton = (direction: 'up' | 'down', isPossible: boolean) =>
    html`<form method="post" action="${sectionPath}/move"><input type="hidden" name="by" value="${direction}"><button class="btn btn-ghost btn-sm w-full justify-start" ${!isPossible && html`disabled`}>${icon(direction === 'up' ? 'arrow-up' : 'arrow-down')}Move ${direction}</button></form>`
  return html`<li class="flex items-start gap-3 pt-3" id="${`section-${section.id}`}" data-section="${section.id}">${icon('layers', 'mt-1 size-5')}<div class="min-w-0 grow">${sectionTitle(structure, section)}</div>
<details class="dropdown dropdown-end"><summary class="btn btn-ghost btn-square btn-sm">${icon('ellipsis')}<span class="sr-only">More for section ${section.name}</span></summary>
<div class="dropdown-content bg-base-100 border-base-300 rounded-box z-20 mt-1 grid w-48 gap-1 border p-2 shadow-lg">
<a class="btn btn-ghost btn-sm justify-start" href="${sectionPath}">${icon('pencil')}Edit</a>
${moveButton('up', section !== sections[0])}
${moveButton('down', section !== sections.at(-1))}
</div></details></li>
`
}

function questionSummary(question: ListedQuestion, title: Html, { pools, questions }: Structure): Html {
  const pool = pools.find(({ id }) => id === question.poolId)
  const poolSize = questions.filter(({ poolId }) => poolId === pool?.id).length
  const { points, timeLimit, preparationTime, simultaneous, responseType } = question
  const typeLabel = responseTypeLabel(responseType)
  return html`<span class="bg-primary/10 text-primary grid size-8 shrink-0 place-items-center rounded-field">${icon(typeLabel.icon)}</span>
<div class="min-w-0 grow">${title}
<p class="quiet mt-1 flex flex-wrap gap-x-3 text-sm"><span>${typeLabel.label}</span><span>${formatCount(points, 'point')}</span>${preparationTime > 0 && html`<span>${formatDuration(preparationTime)} to prepare</span>`}${timeLimit > 0 && html`<span>${formatDuration(timeLimit)}</span>`}${simultaneous && html`<span>Simultaneous</span>`}${pool && html`<span class="badge badge-soft badge-sm"><span>Pool <bdi>${pool.name}</bdi>: ${pool.draw} of ${poolSize}</span></span>`}</p></div>`
}

const text = (question: ListedQuestion): Html =>
  html`<span lang="${question.sourceLanguage ?? ''}" dir="auto" data-excerpt>${excerpt(question) || 'No text'}</span>`

type Place = { place: number; total: number; page: number; isCurrent: boolean; structure: Structure }

function card(path: string, question: ListedQuestion, { place, total, page, isCurrent, structure }: Place): Html {
  const { id, poolId } = question
  const address = `${path}/questions/${id}${page > 1 ? `?page=${page}` : ''}`
  return html`<li class="panel relative flex items-start gap-2 p-3 sm:gap-3 ${isCurrent && 'ring-primary ring-2'}" id="${`question-${id}`}" data-question="${id}" data-pool="${poolId}">
<button type="button" class="btn btn-ghost btn-square btn-sm invisible z-10 cursor-grab touch-none" data-handle aria-describedby="order-help">${icon('grip-vertical')}<span class="sr-only">Move question <span data-place>${place}</span></span></button>
${questionSummary(question, html`<a class="font-medium after:absolute after:inset-0 after:rounded-box" href="${address}" aria-current="${isCurrent && 'page'}"><span data-place>${place}</span>. ${text(question)}</a>`, structure)}
<details class="dropdown dropdown-end"><summary class="btn btn-ghost btn-square btn-sm z-10">${icon('ellipsis')}<span class="sr-only">More for question <span data-place>${place}</span></span></summary>
<div class="dropdown-content bg-base-100 border-base-300 rounded-box z-20 mt-1 grid w-48 gap-1 border p-2 shadow-lg">
${move(path, question, { place: place - 1, isPossible: place > 1, label: `Move up question ${place}`, text: 'up' })}
${move(path, question, { place: place + 1, isPossible: place < total, label: `Move down question ${place}`, text: 'down' })}
${structure.sections.length > 1 && toSection(path, question, structure)}${poolId && html`<a class="btn btn-ghost btn-sm justify-start" href="${path}/pools/${poolId}">${icon('inbox')}Edit pool</a>`}
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

const toSection = (path: string, { id, sectionId }: ListedQuestion, { sections }: Structure): Html =>
  html`<form class="grid gap-1 px-1" method="post" action="${path}/questions/${id}/section"><label class="quiet text-sm" for="${`to-${id}`}">Section</label>
<select class="select select-sm w-full" id="${`to-${id}`}" name="section">${sections.map((section) => html`<option value="${section.id}" ${section.id === sectionId && html`selected`}>${section.name}</option>`)}</select>
<button class="btn btn-sm">Move to section</button></form>
`

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

const offerList = (path: string, types: readonly QuestionType[]): Html =>
  html`<ul class="grid gap-1 sm:grid-cols-2">${types.map(
    ({ word, preset, label, description, icon: name }) =>
      html`<li class="hover:bg-base-200 rounded-field relative flex items-start gap-3 p-2"><span class="bg-primary/10 text-primary grid size-8 shrink-0 place-items-center rounded-field">${icon(name)}</span><div class="text-sm"><a class="font-medium after:absolute after:inset-0" href="${path}/questions/new?answer=${word}${preset && `&preset=${preset}`}">${label}</a><p class="quiet">${description}</p></div></li>\n`,
  )}</ul>`

import type { CandidateProgress, OpenQuestion, SectionProgress } from '../../../domain/submissions/taking/read-progress.ts'
import { type Html, html } from '../../../html/html.ts'
import { icon } from '../../../http/pages/icon.ts'
import { fromMarkdown } from '../../../http/pages/markdown.ts'
import { picturesAsText } from '../../../http/pages/pictures.ts'
import type { CandidateTexts } from '../../../locales/languages.ts'
import { form, hidden, type View } from '../kit/layout.ts'

// The page before a section, and the overview of one with free navigation.

/** @param limit seconds, with extra time; 0: none. @param whole time left for the whole assessment; null: no limit. */
export function sectionIntro(
  view: View,
  section: SectionProgress,
  { limit, whole }: { limit: number; whole: Html | null },
): Html {
  const { t } = view
  const { number, of, name, intro, isFree, questions } = section
  return html`<section class="panel p-8" data-section aria-labelledby="section-heading">
<p class="quiet text-sm">${t.text('section.of', { number, of })}</p>
<h2 class="mt-1 text-2xl" id="section-heading" lang="" dir="auto">${name}</h2>
${intro && html`<div class="mt-4">${fromMarkdown(intro, null, picturesAsText)}</div>`}
<ul class="mt-4 list-disc space-y-1 ps-5"><li>${t.text('expect.questions', { count: questions.length })}</li>
<li>${t.text(isFree ? 'section.free' : 'section.forward')}</li>
${limit > 0 && html`<li>${t.text('section.limit', { time: t.duration(limit) })}</li>`}${whole && html`<li>${whole}</li>`}</ul>
${form(view, 'open-section', html`${hidden('number', number)}<button type="submit" class="btn btn-primary btn-lg mt-6">${t.text('section.open', { number })}</button>`)}</section>`
}

/** The questions of an open section with free navigation. */
export function sectionOverview(view: View, section: SectionProgress): Html {
  const { t } = view
  const { number, of, name, closesAt, questions } = section
  const unanswered = questions.filter(({ isAnswered }) => !isAnswered).length
  return html`<section class="panel p-6 sm:p-8" data-overview data-closes-at="${closesAt?.toISOString()}" aria-labelledby="section-heading">
<p class="quiet text-sm">${t.text('section.of', { number, of })} <span aria-hidden="true">·</span> <bdi>${name}</bdi></p>
<h2 class="mt-1 text-2xl" id="section-heading">${t.text('section.overview')}</h2>
${form(view, 'go', html`<ul class="mt-4 grid gap-2 sm:grid-cols-2">${questions.map((question) => overviewItem(t, question))}</ul>`)}
<p class="mt-6 font-medium">${unanswered > 0 ? t.text('section.unanswered', { count: unanswered }) : t.text('section.answered')}</p>
<p class="quiet mt-1">${t.text('section.finish.final')}</p>
${form(view, 'finish-section', html`${hidden('number', number)}<button type="submit" class="btn btn-primary btn-lg mt-4">${t.text('section.finish', { number })}</button>`)}</section>`
}

const overviewItem = (t: CandidateTexts, { number, isAnswered, isMarked }: SectionProgress['questions'][number]): Html =>
  html`<li><button type="submit" class="btn btn-outline h-auto w-full flex-wrap justify-start gap-x-3 py-2" name="number" value="${number}">${icon(isAnswered ? 'circle-check' : 'circle-dashed')}<span>${t.text('section.go', { number })}</span><span class="text-sm font-normal">${t.text('section.state', { state: isAnswered ? 'answered' : 'other' })}</span>${isMarked && html`<span class="flex items-center gap-1 text-sm font-normal">${icon('bookmark')}${t.text('section.marked')}</span>`}</button></li>
`

/** Buttons that leave a question of a section with free navigation. The answer is saved first. */
export function freeButtons({ t }: View, { section }: CandidateProgress, { number, isMarked }: OpenQuestion): Html {
  const numbers = section!.questions.map((question) => question.number)
  const button = (direction: string, style: string, content: Html | string) =>
    html`<button type="submit" name="then" value="${direction}" class="btn ${style}">${content}</button>`
  return html`${button(isMarked ? 'unmark' : 'mark', 'btn-ghost me-auto', html`${icon('bookmark')}${t.text(isMarked ? 'section.unmark' : 'section.mark')}`)}${number !== numbers[0] && button('previous', 'btn-outline', html`${icon('arrow-left', 'size-4 rtl:-scale-x-100')} ${t.text('section.previous')}`)}${number === numbers.at(-1) ? button('overview', 'btn-primary', t.text('section.overview')) : html`${button('overview', 'btn-outline', t.text('section.overview'))}${button('next', 'btn-primary', html`${t.text('question.next')} ${icon('arrow-right', 'size-4 rtl:-scale-x-100')}`)}`}`
}

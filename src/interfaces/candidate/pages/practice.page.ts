import { type Html, html } from '../../../html/html.ts'
import { noPictures } from '../../../http/pages/pictures.ts'
import type { Kind, KindExample } from '../../../kinds/kind.ts'
import type { CandidateTexts } from '../../../locales/languages.ts'
import { form, hidden, invitePage, type Page, pathOf, type View } from '../kit/layout.ts'

/** Language of the examples, which are not translated. */
const WRITTEN_IN = 'en'

/** Example of a kind. @property number position among the examples. @property typedAnswer values of its fields; undefined: not tried yet. */
type PracticeFacts = {
  kind: Kind
  example: KindExample
  number: number
  of: number
  typedAnswer: string[] | undefined
  records: boolean
}

/** Link to the examples; false if there are none. */
export const practiceLink = (view: View, count: number): Html | false =>
  count > 0 && html`<p class="mt-6"><a class="link" href="${pathOf(view)}/practice">${view.t.text('practice.offer')}</a></p>`

/** An example with a form, and how the answer was understood. It never says if the answer is right. */
export function practicePage(view: View, { kind, example, number, of, typedAnswer, records }: PracticeFacts): Page {
  const { t } = view
  const { responseType, script, spec } = example
  const answer = typedAnswer && kind.fromForm(typedAnswer)
  const isTaken = answer !== undefined && kind.isAnswer(responseType, spec, answer)
  const question = {
    version: { responseType, spec },
    shown: [],
    value: isTaken ? answer : null,
    text: null,
    language: WRITTEN_IN,
    pictures: noPictures,
    isWritten: true,
  }
  const home = pathOf(view)
  const body = html`<p class="mt-4">${t.text('practice.intro')}</p>
${records && html`<p class="mt-3">${t.text('practice.recording')} <a class="link" href="${home}">${t.text('practice.devices')}</a></p>`}
<section class="panel mt-6" aria-labelledby="example-heading">
<p class="quiet text-sm">${t.text('practice.example', { number, of })}</p>
<h2 id="example-heading" class="script" lang="${WRITTEN_IN}" dir="auto">${script}</h2>
${form(
  view,
  'practice',
  html`${hidden('number', number)}
${kind.control(t, question)}
<button type="submit" class="btn mt-6">${t.text('practice.try')}</button>`,
)}
${typedAnswer && html`<div class="notice alert alert-soft alert-info my-4" role="status">${describeReadAnswer(t, { kind, spec, answer, isTaken })}</div>`}
</section>
<div class="mt-6 flex flex-wrap gap-3">${number < of && html`<a class="btn btn-primary" href="${`${home}/practice?example=${number + 1}`}">${t.text('practice.next')}</a>`}
<a class="btn ${number === of && 'btn-primary'}" href="${home}">${t.text('practice.back')}</a></div>`
  return invitePage(view, t.text('practice.title'), body)
}

type ReadAnswer = { kind: Kind; spec: unknown; answer: unknown; isTaken: boolean }

function describeReadAnswer(t: CandidateTexts, { kind, spec, answer, isTaken }: ReadAnswer): Html {
  if (!isTaken) return html`<p>${t.text('practice.refused')}</p>`
  if (kind.isEmpty(answer)) return html`<p>${t.text('practice.nothing')}</p>`
  return html`<div><p>${t.text('practice.read')}</p><p class="script mt-1" lang="${WRITTEN_IN}" dir="auto" data-read>${kind.describe(spec, answer)}</p></div>`
}

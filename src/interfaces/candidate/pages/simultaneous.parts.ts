import { assetIdIn } from '../../../domain/assets/references.ts'
import { SIMULTANEOUS_ENDING_SECONDS, SIMULTANEOUS_REWIND_MS } from '../../../domain/limits.ts'
import { HEADPHONE_CHECKS } from '../../../domain/submissions/taking/prompt-timing.ts'
import type { OpenQuestion } from '../../../domain/submissions/taking/read-progress.ts'
import { type Html, html } from '../../../html/html.ts'
import { icon } from '../../../http/pages/icon.ts'
import type { Pictures } from '../../../http/pages/pictures.ts'
import type { CandidateTexts } from '../../../locales/languages.ts'
import { preload } from '../kit/assets.ts'

/** Says that the answer is spoken while the question plays. */
export const simultaneousNote = (t: CandidateTexts): Html =>
  html`<p class="mt-3"><span class="badge badge-soft badge-info me-2 font-medium">${t.text('question.simultaneous.name')}</span>${t.text('question.simultaneous')}</p>`

/**
 * Check of the headphones, and progress of the prompt. The script shows the parts when they are due, see browser/answering/simultaneous.ts.
 *
 * @param pictures where a preview finds the prompt; null: it is loaded once a play is granted.
 */
export function simultaneousPanel(
  t: CandidateTexts,
  { audioUrl, videoUrl }: Pick<OpenQuestion, 'audioUrl' | 'videoUrl'>,
  pictures: Pictures | null,
): Html {
  const seconds = { ended: SIMULTANEOUS_ENDING_SECONDS, rewind: SIMULTANEOUS_REWIND_MS / 1_000 }
  const address = pictures?.urlOf(assetIdIn(audioUrl || videoUrl)!)
  return html`${preload('simultaneous')}<div data-simultaneous="${audioUrl ? 'audio' : 'video'}" data-address="${address}" data-begin="${t.text('question.simultaneous.begin')}" data-missing="${t.text('question.simultaneous.missing')}" hidden>
<section class="panel mt-6 p-6" data-headphones>
<h3 class="m-0 text-lg">${t.text('question.simultaneous.before')}</h3>
<label class="mt-3 flex items-center gap-3 font-medium"><input class="checkbox" type="checkbox"> ${t.text('question.simultaneous.headphones')}</label>
<p class="quiet mt-1 text-sm">${t.text('question.simultaneous.why')}</p>
<button type="button" class="btn mt-4">${t.text('question.simultaneous.tone')}</button>
<div class="mt-2" role="status">${HEADPHONE_CHECKS.map((result) => html`<p class="${result === 'heard' ? 'mistake' : 'hint'}" data-tone="${result}" hidden>${t.text(`question.simultaneous.${result}`)}</p>`)}</div>
</section>
<div class="mt-6" data-playing hidden>
<p class="flex items-center gap-2"><span class="font-medium">${icon('headphones', 'me-2 inline size-4')}${t.text('question.simultaneous.playing')}</span><span class="ms-auto tabular-nums" dir="ltr" data-time></span></p>
<progress class="progress progress-primary mt-1 block h-1.5" value="0" max="1" aria-hidden="true"></progress>
<p class="hint" role="status"><span data-ended hidden>${t.text('question.simultaneous.ended', { seconds: seconds.ended })}</span></p>
</div>
<p class="hint mt-4" data-rewind hidden>${t.text('question.simultaneous.rewind', { seconds: seconds.rewind })}</p>
</div>`
}

import { isSimultaneous } from '../../../domain/assessments/simultaneous.ts'
import { assetIdIn } from '../../../domain/assets/references.ts'
import type { Context } from '../../../domain/context.ts'
import { formatPosition } from '../../../domain/submissions/grading/format-note.ts'
import { findFirstSound } from '../../../domain/submissions/media/levels.ts'
import type { AttemptDetail, QuestionDetail } from '../../../domain/submissions/reading/submission.ts'
import { type AlignedPart, alignPrompt } from '../../../domain/submissions/taking/align-prompt.ts'
import type { PromptTimings } from '../../../domain/submissions/taking/prompt-timing.ts'
import { type Html, html } from '../../../html/html.ts'
import { pathOf } from '../kit/layout.ts'

/** The prompt of a simultaneous answer, played in step with it by browser/in-step.ts, and when it played. */
export function promptInStep(ctx: Context, { promptTiming, media }: AttemptDetail, question: QuestionDetail): Html | false {
  if (!isSimultaneous(question) || media?.state !== 'ready') return false
  const timings = (promptTiming ?? {}) as PromptTimings
  const parts = alignPrompt(timings, media.segmentEnds)
  const [first] = parts
  if (!first) return html`<p class="facts">The candidate’s browser did not report when the question played.</p>`
  const address = pathOf(ctx, `pictures/${assetIdIn(question.audioUrl || question.videoUrl)}`)
  const headphones = Object.values(timings).map((timing) => timing.headphones)
  const facts = [formatDelay(first, media.levels), ...formatContinued(parts), formatAccuracy(parts)]
  return html`<div class="mt-3" data-in-step="${JSON.stringify(parts)}">
<p class="facts" data-delay>${facts.filter((fact) => fact !== '').join(' ')}</p>
${headphones.includes('heard') && html`<p class="alert alert-soft alert-warning mt-2">In the check, the microphone heard the headphones or loudspeakers: the question may be audible in the answer.</p>`}
<audio preload="none" src="${address}" data-prompt-track hidden></audio>
<fieldset class="noscript:hidden mt-2 flex flex-wrap items-center gap-x-6 gap-y-2 text-sm">
<legend class="sr-only">Play the question with the answer</legend>
<label class="flex items-center gap-2.5 font-medium"><input type="checkbox" class="checkbox checkbox-sm" data-with-prompt checked> Play the question with it: question left, answer right</label>
${volume('prompt', 'Question')}${volume('answer', 'Answer')}
</fieldset>
</div>`
}

const volume = (name: string, label: string): Html =>
  html`<label class="flex items-center gap-2">${label} volume <input type="range" class="range range-xs w-28" min="0" max="1" step="0.05" value="1" data-volume="${name}"></label>`

/** Begin of the prompt in the answer, and delay until the candidate speaks. */
function formatDelay({ from, promptAt }: AlignedPart, levels: Uint8Array | null): string {
  const begins = Math.max(0, from - promptAt)
  const spoken = levels && findFirstSound(levels, begins)
  const delay = spoken === null ? '' : ` The first words come ${((spoken - begins) / 1_000).toFixed(1)} seconds later.`
  return `The question begins at ${formatPosition(begins)} of the answer.${delay}`
}

const formatContinued = ([, ...continued]: AlignedPart[]): string[] =>
  continued.map(
    ({ from, promptFrom }) =>
      `The recording was interrupted: at ${formatPosition(from)} of the answer, the question continues at ${formatPosition(promptFrom)}, 5 seconds before it had stopped.`,
  )

const formatAccuracy = (parts: AlignedPart[]): string =>
  parts.every(({ isExact }) => isExact) ? '' : 'Both are only roughly in step.'

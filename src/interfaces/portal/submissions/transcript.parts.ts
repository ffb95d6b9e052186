import { may } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import type { TranscriptSegment } from '../../../domain/ports/transcriber.ts'
import { formatPosition } from '../../../domain/submissions/grading/format-note.ts'
import type { Transcript } from '../../../domain/submissions/transcripts/read-transcripts.ts'
import { type Html, html } from '../../../html/html.ts'
import { time } from '../kit/formatting.ts'
import { pathOf } from '../kit/layout.ts'
import { MADE_BY_MACHINE } from '../kit/segment-fields.ts'

const WITHOUT_WORDS = {
  pending: 'The transcript is not made yet: look again in a few minutes.',
  silent: 'No speech found.',
  failed: 'No transcript could be made.',
}

/** Captions of a player. @param address of the recording. */
export const captions = (address: string, { state, language }: Transcript): Html | false =>
  state === 'ready' &&
  html`<track kind="captions" src="${`${address}/transcript.vtt`}" srclang="${language || 'und'}" label="Transcript made by a machine">`

/** Words of a recording, with their times. A script seeks the player by them, and marks the spoken line. */
export function transcriptList(ctx: Context, transcript: Transcript): Html {
  const { mediaId, state, segments, language, correctedAt, model } = transcript
  if (state !== 'ready') return html`<p class="facts mt-2" data-transcript-state="${state}">${WITHOUT_WORDS[state]}</p>`
  const address = pathOf(ctx, `media/${mediaId}`)
  const line = ({ startMs, text, isUncertain }: TranscriptSegment) =>
    html`<li class="aria-current:bg-primary/10 flex gap-3 rounded px-2 py-1">${startMs !== null && html`<a class="text-base-content/70 shrink-0 tabular-nums" href="${`${address}#t=${startMs / 1_000}`}" data-at="${startMs / 1_000}">${formatPosition(startMs)}</a>`}<span lang="${language}" dir="auto">${isUncertain ? html`<span class="underline decoration-dotted" title="Uncertain">${text}</span><span class="sr-only"> (uncertain)</span>` : text}</span></li>\n`
  return html`<details class="mt-3" open data-transcript>
<summary class="py-1 text-sm font-medium">Transcript</summary>
<p class="facts">${MADE_BY_MACHINE}${segments.some(({ isUncertain }) => isUncertain) && ' Uncertain words are underlined.'} Model: ${model}.${correctedAt && html` Corrected by a grader ${time(correctedAt)}.`}${may(ctx, 'grade') && html` <a href="${`${address}/transcript`}">${correctedAt ? 'Correct again' : 'Correct'}</a>`}</p>
${segments.length > 0 ? html`<ol class="border-base-300 rounded-field mt-2 max-h-72 overflow-y-auto border p-2 text-sm" tabindex="0" aria-label="Transcript">${segments.map(line)}</ol>` : html`<p class="facts">No words were recognized.</p>`}
</details>`
}

import type { Context } from '../../../domain/context.ts'
import type { Transcript } from '../../../domain/submissions/transcripts/read-transcripts.ts'
import { html } from '../../../html/html.ts'
import { type Form, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { labelSegment, MADE_BY_MACHINE, segmentFields } from '../kit/segment-fields.ts'

type Facts = { ctx: Context; transcript: Transcript; contentType: string; done: string }

/** Form that corrects a transcript, with its player. */
export function transcriptPage(form: Form, { ctx, transcript, contentType, done }: Facts): Page {
  const { mediaId, segments, original, correctedAt } = transcript
  const address = pathOf(ctx, `media/${mediaId}`)
  const player = contentType.startsWith('audio/')
    ? html`<audio class="w-full" controls preload="metadata" src="${address}" aria-label="Recorded answer"></audio>`
    : html`<video class="rounded-box video-ground max-h-72 w-full" controls preload="metadata" src="${address}" aria-label="Recorded answer"></video>`
  return {
    title: 'Correct the transcript',
    subtitle: `${MADE_BY_MACHINE} The original is kept, and the audit log records the correction.`,
    notice: done === 'saved' ? 'The transcript is saved.' : undefined,
    body: html`${mistakes(form)}<div data-attempt>${panel('recording', 'Recording', player)}
${panel(
  'words',
  'Words',
  html`<form method="post" action="${`${address}/transcript`}" data-transcript>
<input type="hidden" name="seen" value="${form.values.get('seen') ?? correctedAt?.toISOString() ?? ''}">
${segmentFields(form, segments)}
<button class="btn btn-primary">Save</button>
</form>`,
)}</div>
${
  original !== null &&
  panel(
    'original',
    'Original of the machine',
    html`<ol class="space-y-1 text-sm">${original.map(({ startMs, text }, i) => html`<li>${labelSegment(startMs, i)}: <span dir="auto">${text}</span></li>\n`)}</ol>`,
  )
}`,
  }
}
